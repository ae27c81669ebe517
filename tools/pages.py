"""A hook of MkDocs: pages of the documentation that are files of the project's root, with their links put right."""

from __future__ import annotations

import re
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).parent.parent
PAGES = ["ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md"]
_LINK = re.compile(r"\]\((?!https?://|#)([^)#\s]+)(#[^)\s]*)?\)")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages to those of the folder docs."""
    for name in PAGES:
        content = _LINK.sub(_inside, (ROOT / name).read_text(encoding="utf-8"))
        files.append(File.generated(config, name.lower(), content=content))
    return files


def _inside(link: re.Match[str]) -> str:
    """Point a link to the page that a file of the root became; one that became none is left to the strict build."""
    target, anchor = link[1], link[2] or ""
    if target in PAGES:
        target = target.lower()
    return f"]({target.removeprefix('docs/')}{anchor})"
