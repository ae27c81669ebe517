"""The commands of the pages, one after the other in one folder: none writes what another has written."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
WRITTEN = re.compile(
    r"--(?:html|out|policy-out|certificate|risks|receipt|write-policy) ([\w.-]+\.\w+)|to_html\(\"([^\"]+)\""
)
READ = re.compile(r"--policy ([\w.-]+\.toml)")


def commands(*pages):
    """The lines of code of some pages, in order."""
    for page in pages:
        text = (ROOT / page).read_text(encoding="utf-8").split("## Into Postgres")[0]
        for block in re.findall(r"^```(?:sh|console|python)\n(.*?)^```|^((?: {4}.*\n)+)", text, re.M | re.S):
            yield from (
                line.strip() for line in "".join(block).splitlines() if not line.strip().startswith(">>>")
            )


@pytest.mark.parametrize(
    "pages", [["README.md"], ["docs/tutorial.md", "docs/policy.md"]], ids=["readme", "tutorial"]
)
def test_no_file_is_written_twice(pages):
    written = [next(filter(None, found)) for line in commands(*pages) for found in WRITTEN.findall(line)]
    assert len(written) >= 3
    assert sorted(written) == sorted(set(written))


def test_policies_that_are_read_were_written():
    text = (ROOT / "docs/tutorial.md").read_text(encoding="utf-8")
    known = {name for found in WRITTEN.findall(text) for name in found if name}
    for match in READ.finditer(text):
        assert match[1] in known or f"`{match[1]}`" in text[: match.start()], match[1]
    assert "--policy FILE" not in text
