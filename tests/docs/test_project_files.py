"""What the project's own files say of it, held against the project."""

import re
from pathlib import Path

import pytest

import tightlip as tl

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "tightlip"
PAGES = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md"]


def read(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def test_the_architecture_has_a_line_for_each_package_and_no_other():
    rooms = read("ARCHITECTURE.md").split("## The rooms")[1].split("\n## ")[0]
    named = [
        name
        for line in re.findall(r"^\| (`.*?) \|", rooms, re.MULTILINE)
        for name in re.findall(r"`(.*?)`", line)
    ]
    packages = {f"{path.parent.name}/" for path in SOURCE.glob("*/__init__.py")}
    modules = {path.name for path in SOURCE.glob("*.py")} - {"__init__.py", "__main__.py"}
    assert sorted(named) == sorted(packages | modules)


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\((?!https?://)([^)#]+)[^)]*\)", read(page)):
        assert (ROOT / target).exists(), f"{page} links to {target}"


@pytest.mark.parametrize("page", ["ARCHITECTURE.md", "CONTRIBUTING.md"])
def test_files_that_are_named_are_there(page):
    named = re.findall(r"`((?:[\w.]+/)*[\w.]+\.pyi?)`", read(page))
    assert named
    for name in named:
        assert (SOURCE / name.removeprefix("tightlip/")).exists() or (ROOT / name).exists(), (
            f"{page} names {name}"
        )


@pytest.mark.parametrize("page", sorted(f"docs/{path.name}" for path in (ROOT / "docs").glob("*.md")))
def test_tests_and_sources_that_a_page_points_to_are_there(page):
    for name in re.findall(
        r"`((?:tests|experiments|papers|tightlip|examples)/[\w./-]+)(?:::[\w:]+)?`", read(page)
    ):
        assert (ROOT / name).exists() or (SOURCE.parent / name).exists(), f"{page} names {name}"


def test_the_readme_names_what_there_is():
    table = re.findall(
        r"^\| [^|]+ \| ([^|]*`[^|]*) \|", read("README.md").split("## What is there")[1], re.MULTILINE
    )
    spaces: list[object] = []
    for cell in table[1:]:  # below the heading
        for name in re.findall(r"`([\w.]+)`", cell):
            space, _, last = name.rpartition(".")
            if space:
                spaces.append(tl if space == "tl" else getattr(tl, space))
            assert hasattr(spaces[-1], last), f"README.md names {name}"
    assert len(spaces) > 20


def test_contributors_are_told_every_command():
    targets = set(re.findall(r"^([a-z]+):", read("Makefile"), re.MULTILINE)) - {"clean"}
    assert set(re.findall(r"`make ([a-z]+)`", read("CONTRIBUTING.md"))) == targets


def test_the_version_is_the_same_everywhere():
    assert f'\nversion = "{tl.__version__}"\n' in read("pyproject.toml")
    assert f"\nversion: {tl.__version__}\n" in read("CITATION.cff")


def test_warnings_end_the_build_of_the_documentation():
    (command,) = re.findall(r"^\t.*mkdocs build(.*)$", read("Makefile"), re.MULTILINE)
    assert command == " --strict"  # with --quiet nothing is counted as a warning


def test_hooks_and_workflow_run_what_the_makefile_runs():
    hooks = re.findall(
        r"entry: \.venv/bin/([\w-]+(?: (?:check|format --check))?)", read(".pre-commit-config.yaml")
    )
    recipes = re.findall(r"^(?:lint|types):.*\n((?:\t.*\n)+)", read("Makefile"), re.MULTILINE)
    run = re.findall(r"\$\(BIN\)/([\w-]+(?: (?:check|format --check))?)", "".join(recipes))
    assert sorted(hooks) == sorted(run)
    workflow = read(".github/workflows/ci.yml")
    assert "- run: .ci/run\n" in workflow
    assert "- run: make docs\n" in workflow
    assert {"make lint", "make types", "make test"} <= set(read(".ci/run").splitlines())
