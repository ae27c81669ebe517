"""A short run of every fuzzer, with the same seeds each time; `make fuzz` goes on from there."""

import sys

import pytest

from fuzz.run import TARGETS, attack

# cases of each target: a few seconds
_CASES = {
    "csv": 60,
    "parquet": 80,
    "duckdb": 20,
    "sqlite": 30,
    "workbook": 60,
    "statistics": 80,
    "policy": 300,
    "certificate": 80,
    "release": 40,
    "receipt": 30,
    "channel": 300,
}


@pytest.mark.skipif(sys.platform == "win32", reason="processes are started by fork")
@pytest.mark.parametrize("target", TARGETS)
def test_fixed_seeds(target):
    wrong, crashed = attack(target, range(_CASES[target]))
    assert not wrong, "\n".join(f"seed {seed}\n{fault}" for seed, fault in wrong.items())
    # an engine may fall over a damaged file now and then; if it always does, nothing was tested
    assert len(crashed) <= _CASES[target] // 10
