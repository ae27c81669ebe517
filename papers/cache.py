"""Keep what was computed: a reproduction is computed again when its code, the library, a version or the data change."""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path

import tightlip
from papers.reproduction import Compared, Panel, Reproduction

FOLDER = Path(__file__).parent
_PARTS = ("numpy", "scipy", "highspy", "python-flint", "altair", "randomgen", "scikit-learn")


def digest(name: str) -> str:
    """Digest everything that a reproduction is made from."""
    found = hashlib.sha256(" ".join(f"{part} {version(part)}" for part in _PARTS).encode())
    shared = [FOLDER / f"{part}.py" for part in ("adult", "charts", "reproduction", name)]
    library = sorted(Path(tightlip.__file__).parent.rglob("*.py"))
    data = sorted(Path(folder).glob("adult.*")) if (folder := os.environ.get("TIGHTLIP_ADULT")) else []
    for path in [*shared, *library, *data]:
        found.update(path.name.encode() + hashlib.sha256(path.read_bytes()).digest())
    return found.hexdigest()


def load(name: str) -> tuple[Reproduction, float] | None:
    """What was kept, and the seconds it took; None where there is none, or it is of something else."""
    try:
        kept = json.loads(_path(name).read_text())
    except (OSError, ValueError):
        return None
    if kept["digest"] != digest(name):
        return None
    parts = kept["found"]
    parts["panels"] = [Panel(**panel) for panel in parts["panels"]]
    parts["compared"] = [Compared(**one) for one in parts["compared"]]
    return Reproduction(**parts), kept["seconds"]


def keep(name: str, found: Reproduction, seconds: float) -> None:
    """Keep a reproduction."""
    _path(name).parent.mkdir(parents=True, exist_ok=True)
    record = {"digest": digest(name), "seconds": seconds, "found": asdict(found)}
    _path(name).write_text(json.dumps(record, ensure_ascii=False))


def _path(name: str) -> Path:
    return FOLDER / ".cache" / f"{name}.json"
