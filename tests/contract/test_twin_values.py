"""Values that are one by some rule and two by another are told apart or refused, on every engine alike.

NaN and NULL are both missing, 0 and −0 are both zero. SQLite stores NaN as NULL and, in columns of reals, −0 as 0; the
values of pandas that are missing (NaN, None, NA) are one; so there each pair is one value by then. CSV has NaN as text.
"""

import math
from decimal import Decimal

import pandas as pd
import pyarrow as pa
import pytest

from contract.store import stored
from contract.warnings_of_engines import IGNORED
from tightlip.errors import InvalidInput
from tightlip.table.counts import count_cells
from tightlip.table.policy import Policy, Released
from tightlip.table.recoding import Bins, BottomCode, Keep, Suppress, TopCode
from tightlip.table.source import open_table

pytestmark = IGNORED

NAN = math.nan
ZEROS = [0.0, 1.5, -0.0, -2.5]  # not side by side, as DuckDB may store those as one
ONE_NAN, ONE_ZERO = {"sqlite", "pandas"}, {"sqlite"}


def opened(engine, request, folder, name, values):
    table = pa.table({"size": pa.array(values, pa.float64()), "ill": ["yes", "no"] * (len(values) // 2)})
    return open_table(
        stored(engine, request, folder, name, table), table=name if engine == "postgres" else None
    )


def cells(table, recoding=None):
    return count_cells(table, Policy("ill", [Released("size", recoding or Keep())])).cells


def refused(table, recoding, words):
    with pytest.raises(InvalidInput) as caught:
        cells(table, recoding)
    assert words in str(caught.value)


KEEPING = [Keep(), TopCode(9), BottomCode(-9)]
LOWEST, HIGHEST = ("[-10, 0)",), ("[0, 10)",)


def test_nan_and_null(engine, request, tmp_path):
    with opened(engine, request, tmp_path, "nan_and_null", [NAN, None, 1.5, 2.5]) as table:
        if engine == "csv":
            assert table.columns["size"] == "text"
            assert cells(table) == [(None,), ("1.5",), ("2.5",), ("nan",)]
            return
        for recoding in KEEPING:
            if engine in ONE_NAN:
                assert cells(table, recoding) == [(None,), ("1.5",), ("2.5",)]
            else:
                refused(table, recoding, 'column "size" has both NULL and NaN, which the release would tell')
        assert cells(table, Bins(width=10)) == [(None,), HIGHEST]
        assert cells(table, Suppress()) == [("*",)]


def test_zero_and_minus_zero(engine, request, tmp_path):
    with opened(engine, request, tmp_path, "zeros", ZEROS) as table:
        said = (
            "one number in several ways" if engine == "csv" else "both 0 and −0, which the release would tell"
        )
        for recoding in KEEPING:
            if engine in ONE_ZERO:
                assert cells(table, recoding) == [("-2.5",), ("0",), ("1.5",)]
            else:
                refused(table, recoding, said)
        assert cells(table, Bins(width=10)) == [LOWEST, HIGHEST]


@pytest.mark.parametrize(("name", "values"), [("nulls", [None, -0.0]), ("nans", [NAN, 0.0])])
def test_one_of_each_is_read(engine, request, tmp_path, name, values):
    with opened(engine, request, tmp_path, name, [*values, 1.5, -2.5]) as table:
        if engine == "csv" and name == "nans":
            assert ("nan",) in cells(table)
            return
        assert cells(table) == [(None,), ("-2.5",), ("0",), ("1.5",)]


def test_a_secret_is_kept_too(engine, request, tmp_path):
    if engine in ONE_ZERO:
        pytest.skip("SQLite has no −0 in columns of reals")
    with (
        opened(engine, request, tmp_path, "secret_zeros", ZEROS) as table,
        pytest.raises(InvalidInput, match=r"both 0 and −0|one number in several ways"),
    ):
        count_cells(table, Policy("size", ["ill"]))


@pytest.mark.parametrize(
    "twins", [[1, 1.0], [Decimal("1.0"), Decimal("1.00")], [0.0, -0.0], [True, 1]], ids=str
)
def test_objects_of_pandas_that_are_equal_and_written_differently(twins):
    """Arrow makes one number of them, and the audit would find nothing to tell the secrets apart by."""
    people = pd.DataFrame({"size": pd.Series(twins * 50, dtype=object), "ill": ["yes", "no"] * 50})
    with open_table(people) as table:
        refused(table, Keep(), 'column "size" has type mixed or unknown to Arrow')


def test_objects_of_pandas_that_are_told_apart():
    for pair in ([1, 2.5], [1, None], [Decimal("0.5"), Decimal("1.25")], ["a", None]):
        people = pd.DataFrame({"size": pd.Series(pair * 2, dtype=object), "ill": ["yes", "no"] * 2})
        with open_table(people) as table:
            assert len(cells(table)) == 2, pair
