"""Reproduce the papers: `python -m papers` writes the gallery, `python -m papers --store` the stored values too."""

from __future__ import annotations

import argparse
import importlib
import os
import pkgutil
import sys
import time
from pathlib import Path

import papers
from papers import cache
from papers.page import render
from papers.reproduction import Reproduction

FOLDER = Path(__file__).parent
_NOT_FIGURES = {"__main__", "adult", "cache", "charts", "page", "reproduction"}


def modules() -> list[str]:
    """The reproductions, by the name of their module."""
    names = sorted(module.name for module in pkgutil.iter_modules(papers.__path__))
    return [name for name in names if name not in _NOT_FIGURES]


def can_run(name: str) -> bool:
    """Whether the table that a reproduction needs is there."""
    needs = getattr(importlib.import_module(f"papers.{name}"), "NEEDS_ADULT", False)
    return not needs or bool(os.environ.get("TIGHTLIP_ADULT"))


def reproduce(name: str, quick: bool = False) -> Reproduction:
    """Run one of them."""
    found = importlib.import_module(f"papers.{name}").reproduce(quick)
    assert isinstance(found, Reproduction)
    return found


def _fresh_or_kept(name: str, again: bool) -> tuple[Reproduction, float, str]:
    """A reproduction, the seconds it took, and whether it was computed now."""
    if not again and (kept := cache.load(name)) is not None:
        return *kept, "kept"
    start = time.perf_counter()
    found = reproduce(name)
    seconds = time.perf_counter() - start
    cache.keep(name, found, seconds)
    return found, seconds, "computed"


def main() -> None:
    """Run all, or the named ones, and write the page."""
    parser = argparse.ArgumentParser(description="Every figure, example and experiment of the five papers.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(modules())}; all if none")
    parser.add_argument("--out", type=Path, default=FOLDER / "gallery.html")
    parser.add_argument("--again", action="store_true", help="compute also what was kept")
    parser.add_argument("--store", action="store_true", help="write the values that the tests compare with")
    options = parser.parse_args()
    if unknown := sorted(set(options.names) - set(modules())):
        parser.error(f"NAME must be one of {', '.join(modules())}, got {', '.join(unknown)}")
    names = options.names or modules()
    if left_out := [name for name in names if not can_run(name)]:
        sys.stdout.write(
            f"left out, set TIGHTLIP_ADULT to the folder of the Adult table: {', '.join(left_out)}\n"
        )
        names = [name for name in names if name not in left_out]
    found, seconds = {}, {}
    for place, name in enumerate(names, start=1):
        sys.stdout.write(f"{place:2} of {len(names)}  {name:22}")
        sys.stdout.flush()
        found[name], seconds[name], how = _fresh_or_kept(name, options.again)
        different = sum(not one.agrees for one in found[name].compared)
        sys.stdout.write(
            f"{seconds[name]:7.1f} s {how:9} {different} of {len(found[name].compared)} differ\n"
        )
        if options.store:
            (FOLDER / "values" / f"{name}.csv").write_text(found[name].csv())
    options.out.write_text(render(found, seconds))
    sys.stdout.write(f"wrote {options.out}\n")


if __name__ == "__main__":
    main()
