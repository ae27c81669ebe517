"""Whatever is put in the place of an argument: a result, or one error of tightlip that names the argument."""

from __future__ import annotations

import inspect
from decimal import Decimal
from fractions import Fraction
from operator import attrgetter
from types import ModuleType

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import tightlip as tl
from contract.warnings_of_engines import IGNORED
from public_calls import CHANNEL, PRIOR, calls
from tightlip import auditing, papers, protection
from tightlip.errors import TightlipError

# made by functions, not by users
RESULTS = {
    "AdversaryLeakage",
    "AppendixI",
    "Audit",
    "AuditRisks",
    "Binding",
    "CellTable",
    "Certificate",
    "Claim",
    "Classical",
    "ColumnDetail",
    "Comparison",
    "ComparedMechanism",
    "CompositionBound",
    "ConditionalDraw",
    "ContractionSummary",
    "ContractionCertificate",
    "Curve",
    "CurvePoint",
    "Design",
    "DesignCertificate",
    "DesignComparison",
    "DesignCurve",
    "DesignPoint",
    "Distortion",
    "DivergenceBound",
    "Envelope",
    "EnvelopeBounds",
    "EnvelopeCurve",
    "EnvelopeCertificate",
    "FailureProbability",
    "FrequencyEstimate",
    "PosteriorMoment",
    "PosteriorMoments",
    "PosteriorVarianceBound",
    "HistogramRelease",
    "IdentityRisks",
    "Implied",
    "InformationDensity",
    "LeakageCapacity",
    "LeakageCertificate",
    "LevelBounds",
    "ListCertificate",
    "MapCertificate",
    "NoiseStatisticLeakage",
    "OrderedCertificate",
    "PairCertificate",
    "PlanRow",
    "PlanTable",
    "PointwiseLeakage",
    "Privacy",
    "Protection",
    "ProvedProbability",
    "RandomizedResponseCertificate",
    "Reasons",
    "Receipt",
    "Recomputation",
    "Region",
    "RegionCertificate",
    "Release",
    "ReleasePlan",
    "Repetition",
    "RiskBound",
    "RobustCertificate",
    "RobustEnvelope",
    "RobustLeakage",
    "SmallestBudget",
    "StatisticCertificate",
    "StatisticComposition",
    "StatisticLeakage",
    "Summary",
    "Table",
    "WholeColumns",
    "ZeroCountCheck",
}
NO_ARGUMENTS = {"Keep", "Suppress"}

# what a message may call an argument, where its own name is not the clearest
ALSO = {
    "rows": ("channel", "outputs"),
    "secrets": "secret",
    "masses": "prior",
    "counts": ("labels", "outputs"),
    "value": ("leakage", "probability"),
    "fraction": "probability",
    "source": ("table", "file", "x must"),
    "table": ("file", "column", "cannot be read"),
    "path": ("file", "cannot be written"),
    "at": ("top", "bottom"),
    "edges": "edge",
    "groups": "mapping",
    "columns": ("table", "column"),
    "secret": ("column", "label"),
    "release": "column",
    "id_column": "column",
    "keep": "column",
    "receipt": "cannot be written",
    "text": ("JSON", "certificate"),
    "other": "inputs",
    "outputs": ("secret", "labels"),
    "divergence": "f(1)",
    "group_of_cell": "cells",
    "group_counts": "total",
    "y": "outcome",
    "b": "outcome",
}


class Silent:
    """What cannot even show itself."""

    def __repr__(self):
        raise RuntimeError("no")


def _deep():
    nest = []
    for _ in range(3000):
        nest = [nest]
    return nest


pytestmark = IGNORED
JUNK = {
    "None": None,
    "True": True,
    "text": "x",
    "no text": "",
    "broken text": "\ud800",
    "zero character": "a\0b",
    "long text": "x" * 5000,
    "bytes": b"\xff",
    "-1": -1,
    "10**18": 10**18,
    "10**400": 10**400,
    "-10**400": -(10**400),
    "1e308": 1e308,
    "5e-324": 5e-324,
    "nan": float("nan"),
    "inf": float("inf"),
    "tiny": Fraction(1, 10**5000),
    "huge": Fraction(10**5000 + 1, 3),
    "half": Fraction(10**5000 + 1, 2 * 10**5000),
    "Decimal NaN": Decimal("sNaN"),
    "1e999": "1e999",
    "1/0": "1/0",
    "NA": pd.NA,
    "NaT": np.datetime64("NaT"),
    "object": object(),
    "Silent": Silent(),
    "[]": [],
    "ragged": [[0.5, 0.5], [1]],
    "mixed": [1, "a", None],
    "rows": [[0.5, 0.5], [0.25, 0.75]],
    "[10**400]": [10**400, 1],
    "[NA]": [pd.NA, 1],
    "[broken text]": ["\ud800", "b"],
    "{}": {},
    "{'a': None}": {"a": None},
    "set": {"+", "-"},
    "masked": np.ma.masked,
    "masked array": np.ma.array([1.0, 2.0], mask=[0, 1]),
    "function": lambda *_: None,
    "complex": 1j,
    "type": dict,
    "deep": _deep(),
    "no dimensions": np.array(3.0),
    "three dimensions": np.zeros((2, 2, 2)),
    "objects": np.array([object(), None], dtype=object),
    "Series": pd.Series([0.5, 0.5], index=["u", "v"]),
    "polars": pl.DataFrame({"a": [0.5, 0.5], "b": [0.5, 0.5]}),
    "Arrow": pa.table({"a": [0.5, 0.5], "b": [0.5, 0.5]}),
    "Channel": CHANNEL,
    "Prior": PRIOR,
}


def public_names():
    """What users can call: the names of the top level, and of the namespaces where they are not the same objects."""
    first = {name: getattr(tl, name) for name in tl.__all__}
    yield from (name for name, found in first.items() if callable(found))
    for space in (
        *(found for found in first.values() if isinstance(found, ModuleType)),
        auditing,
        papers,
        protection,
    ):
        for name in getattr(space, "__all__", ()):
            found = getattr(space, name)
            if not any(found is other for other in first.values()):
                yield f"{space.__name__.removeprefix('tightlip.')}.{name}"


def test_every_public_function_is_among_the_calls():
    called = [call.target for call in calls()]
    for name in public_names():
        found = attrgetter(name)(tl)
        error = isinstance(found, type) and issubclass(found, Exception)
        if error or name.rpartition(".")[2] in RESULTS | NO_ARGUMENTS:
            continue
        assert found in called or not inspect.signature(found).parameters, f"{name} is never given junk"


def test_every_argument_is_among_the_calls():
    left_out = {
        "leakage_capacity": {"prior_set"},
        "contraction.Coefficient": {"fraction", "pair", "inputs", "certificate"},
        "Coefficient.known": {"pair"},
        "table.Bins": {"edges"},
        "table.Bins of edges": {"width", "origin"},
        "planning.Study": {"separation"},
        "Policy.from_flags": {"flags"},
        "audit": {"plan"},
        "protect": {"plan"},
        "histogram.plan_release": {"epsilon"},
        "histogram.release_histogram": {"options"},
        "designs.curve": {"asked"},
        "designs.smallest_budget": {"asked", "gain_at_least", "at_least", "at_most"},
        "designs.smallest_budget of a gain": {"asked", "loss_at_most", "at_least", "at_most"},
        "designs.compare": {"asked"},
    }
    for call in calls():
        wanted = set(inspect.signature(call.target).parameters)
        missing = (
            wanted
            - set(call.arguments)
            - left_out.get(call.name, set())
            - {"time_limit", "ratio", "certificate"}
        )
        assert not missing, (call.name, missing)


@pytest.mark.parametrize("call", calls(), ids=lambda call: call.name)
def test_junk_for_each_argument_in_turn(call, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # "x" is a name that a file can have
    call()
    for argument in call.arguments:
        for name, junk in JUNK.items():
            if (argument, name) in (("on_stage", "type"), ("on_progress", "type"), ("divergence", "type")):
                continue  # a function of the caller's that fails in its own way
            try:
                call(**{argument: junk})
            except TightlipError as error:
                _require_clear(str(error), argument, f"{call.name}({argument}={name})")
            except Exception as error:
                pytest.fail(f"{call.name}({argument}={name}) ended in {type(error).__name__}: {error}")


def _require_clear(message: str, argument: str, what: str) -> None:
    message.encode()  # it can be printed
    assert len(message) < 1000, f"{what} says too much: {message}"
    assert "\n" not in message, f"{what} says more than a line: {message}"
    also = ALSO.get(argument, ())
    names = [argument, *([also] if isinstance(also, str) else also)]
    assert any(known in message for known in names), f"{what} names no argument: {message}"
