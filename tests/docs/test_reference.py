"""The pages of the reference against the public names: each is on its page, once, and nothing else is."""

import importlib
import re
from collections import Counter
from pathlib import Path
from types import ModuleType

import pytest

import tightlip as tl

ROOT = Path(__file__).parents[2]
PAGES = ROOT / "docs" / "reference"
NAMESPACES = sorted(
    {name for name in tl.__all__ if isinstance(getattr(tl, name), ModuleType)}
    | {"auditing", "ledger", "papers", "protection"}
)
ENTRY = re.compile(r"^::: (tightlip[\w.]*)$", re.MULTILINE)


def listed(page: str, module: str) -> Counter[str]:
    """The names of one module that a page has an entry for; an entry of another module is told in full."""
    found = Counter(ENTRY.findall(page))
    found.pop(module, None)  # the docstring of the module itself
    return Counter({path.removeprefix(f"{module}."): times for path, times in found.items()})


@pytest.mark.parametrize("name", NAMESPACES)
def test_a_page_lists_the_names_of_its_namespace(name):
    public = getattr(importlib.import_module(f"tightlip.{name}"), "__all__", [])
    page = (PAGES / f"{name}.md").read_text(encoding="utf-8")
    assert listed(page, f"tightlip.{name}") == Counter(public), f"docs/reference/{name}.md and __all__ differ"


def test_the_first_page_lists_the_top_level():
    page = (PAGES / "tightlip.md").read_text(encoding="utf-8")
    assert listed(page, "tightlip") == Counter(set(tl.__all__) - set(NAMESPACES))


def test_every_page_is_one_of_these_and_in_the_navigation():
    pages = {path.stem for path in PAGES.glob("*.md")}
    assert pages == {*NAMESPACES, "tightlip", "index"}
    navigation = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    for page in pages:
        assert f"reference/{page}.md\n" in navigation
        assert page == "index" or f"]({page}.md)" in (PAGES / "index.md").read_text(encoding="utf-8")


def test_the_comparison_can_fail():
    page = "::: tightlip.noise\n    options:\n\n::: tightlip.noise.pml\n\n::: tightlip.noise.pml\n\n::: tightlip.pmc\n"
    assert listed(page, "tightlip.noise") == Counter({"pml": 2, "tightlip.pmc": 1})


@pytest.mark.parametrize("name", [*NAMESPACES, ""])
def test_examples_import_public_names_only(name):
    """What a docstring imports is what its readers will import."""
    space = importlib.import_module(f"tightlip.{name}".rstrip("."))
    documented = [getattr(space, public) for public in getattr(space, "__all__", [])]
    documented += [part for one in documented if isinstance(one, type) for part in vars(one).values()]
    for one in documented:
        for module in re.findall(
            r">>> (?:from|import) (tightlip[\w.]*)", getattr(one, "__doc__", None) or ""
        ):
            assert module.count(".") < 2, f"{one} imports from {module}"
