"""A hook of MkDocs: pages of the documentation that are files of the project's root, with their links put right."""

from __future__ import annotations

import re
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).parent.parent
PAGES = {name: name.lower() for name in ("ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md")}
LICENCE = ("LICENSE", "license.md")
_LINK = re.compile(r"\]\((?!https?://|#)([^)#\s]+)(#[^)\s]*)?\)")
_NO_WORDS = re.compile(r"–\s*<div class=\"doc-md-description\">\s*</div>")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages to those of the folder docs."""
    for name, page in PAGES.items():
        content = _LINK.sub(_inside, (ROOT / name).read_text(encoding="utf-8"))
        files.append(File.generated(config, page, content=content))
    text = (ROOT / LICENCE[0]).read_text(encoding="utf-8")
    files.append(File.generated(config, LICENCE[1], content=f"# Licence\n\n```text\n{text}```\n"))
    return files


def on_page_content(html: str, **_: object) -> str:
    """Take away the dash before a parameter's description where there is none."""
    return _NO_WORDS.sub("", html)


def _inside(link: re.Match[str]) -> str:
    """Point a link to the page that a file of the root became; one that became none is left to the strict build."""
    target = dict([*PAGES.items(), LICENCE]).get(link[1], link[1].removeprefix("docs/"))
    return f"]({target}{link[2] or ''})"
