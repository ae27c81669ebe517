"""The names users learn, where everything else lives, and what importing costs."""

import ast
import inspect
import pickle
import pkgutil
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

import tightlip as tl

ROOT = Path(__file__).parent.parent
FIRST = {
    "words": {"Channel", "Prior", "PriorSet", "Nats", "Probability", "log_of", "load"},
    "measuring": {
        "measure",
        "pml",
        "pmc",
        "maximal_leakage",
        "ldp",
        "lip",
        "alip",
        "event_leakage",
        "information_density",
    },
    "post-processing": {"envelope", "envelope_curve", "failure_probability"},
    "other views": {"statistic_maximal_leakage", "leakage_capacity", "dobrushin"},
    "designing": {"design"},
    "tables": {"audit", "compare", "protect", "release", "Policy", "open_table", "Ledger"},
    "namespaces": {
        "measures",
        "envelopes",
        "noise",
        "statistic",
        "robust",
        "contraction",
        "designs",
        "planning",
        "histogram",
        "table",
        "mechanism",
        "convert",
        "certificate",
        "errors",
    },
}
NAMESPACES = sorted(FIRST["namespaces"] - {"errors"})
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")), *sorted((ROOT / "examples").glob("*.py"))]
USE = "import tightlip as tl; tl.pml, tl.Channel, tl.Prior, tl.convert"


def test_the_top_level_is_what_users_learn_first_and_nothing_else():
    assert set(tl.__all__) == set().union(*FIRST.values())
    assert set(dir(tl)) >= set(tl.__all__)
    for name in tl.__all__:
        assert getattr(tl, name) is not None


@pytest.mark.parametrize("name", sorted(set().union(*FIRST.values()) - FIRST["namespaces"]))
def test_names_are_functions_and_classes_whatever_was_imported_before(name):
    """A function has its signature, its docstring and a pickle, also after its whole package was loaded."""
    for module in pkgutil.walk_packages(tl.__path__, "tightlip."):
        if module.name != "tightlip.__main__":
            __import__(module.name)
    found = getattr(tl, name)
    assert inspect.isfunction(found) or inspect.isclass(found)
    assert inspect.getdoc(found)
    assert inspect.signature(found) is not None
    assert pickle.loads(pickle.dumps(found)) is found


@pytest.mark.parametrize("name", NAMESPACES)
def test_a_namespace_lists_its_names_and_no_module_shadows_one(name):
    space = getattr(tl, name)
    modules = {module.name for module in pkgutil.iter_modules(space.__path__)}
    assert space.__doc__
    assert not modules & set(space.__all__)
    for public in space.__all__:
        assert not isinstance(getattr(space, public), ModuleType)


def test_unknown_names_are_refused():
    with pytest.raises(AttributeError, match="nonsense"):
        _ = tl.nonsense


def _public(name: str) -> bool:
    """Whether a dotted name can be learned from the documentation: a package, not one of its modules."""
    return (
        name in {"tightlip", "tightlip.papers", "tightlip.auditing", "tightlip.protection"}
        or name.removeprefix("tightlip.") in tl.__all__
    )


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_pages_and_examples_import_public_names_only(page):
    code = page.read_text()
    if page.suffix == ".md":
        lines = re.findall(r"^(?:>>> |\.\.\. | +)?((?:from|import) tightlip\b.*)$", code, re.M)
        code = "\n".join(re.sub(r"import \($", "import x", line) for line in lines)
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.ImportFrom) and str(node.module).split(".")[0] == "tightlip":
            assert _public(str(node.module)), f"{page.name} imports from {node.module}"
        if isinstance(node, ast.Import):
            for alias in node.names:
                assert not alias.name.startswith("tightlip.") or _public(alias.name)


@pytest.mark.parametrize("program", ["import tightlip", USE])
def test_importing_loads_nothing_heavy(program):
    heavy = (
        "scipy",
        "flint",
        "rich",
        "typer",
        "pandas",
        "duckdb",
        "altair",
        "matplotlib",
        "randomgen",
        "highspy",
    )
    loaded = subprocess.run(
        [
            sys.executable,
            "-c",
            f"{program}; import sys; print([name for name in {heavy!r} if name in sys.modules])",
        ],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert loaded.strip() == "[]"
