"""Numbers as users write them, and everything that is not a number."""

import datetime
import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tightlip.errors import InvalidInput, ShapeMismatch, WrongType
from tightlip.numeric.parse import exact_text, number, numbers, require_finite, to_floats


@pytest.mark.parametrize(
    ("given_", "read"),
    [
        (0.25, 0.25),
        (np.float32(0.5), 0.5),
        (np.float16(0.5), 0.5),
        (1, Fraction(1)),
        (np.int8(1), Fraction(1)),
        (Fraction(1, 3), Fraction(1, 3)),
        (Decimal("0.1"), Fraction(1, 10)),
        ("1/3", Fraction(1, 3)),
        (" 0.25 ", Fraction(1, 4)),
        ("1e-300", Fraction(1, 10**300)),
        ("-2", Fraction(-2)),
        (np.str_("1/2"), Fraction(1, 2)),
        ("1e-5000", Fraction(1, 10**5000)),
    ],
)
def test_numbers_are_read_as_written(given_, read):
    found = number(given_, "p")
    assert found == read
    assert type(found) is type(read)


@pytest.mark.parametrize(
    "value",
    [True, np.True_, None, 1j, [1], b"1", datetime.date(2020, 1, 1), np.datetime64("2020-01-01", "ns"),
     np.timedelta64(3, "ns"), np.ma.masked, {}],
)  # fmt: skip
def test_other_types_are_refused_by_name(value):
    with pytest.raises(WrongType, match=r'p must be a float, .* text like "1/3", got .* of type \w+'):
        number(value, "p")


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, np.float32("nan")])
def test_floats_that_are_not_finite_are_refused(value):
    with pytest.raises(InvalidInput, match=f"p must be finite, got {float(value)!r}; remove or impute"):
        number(value, "p")


@pytest.mark.parametrize(
    "value",
    ["1/0", "nan", "inf", "", "one", "1e²", "1/3/5", Decimal("NaN"), Decimal("sNaN"), Decimal("-Infinity")],
)
def test_text_and_decimals_that_are_no_number_are_refused(value):
    with pytest.raises(InvalidInput, match=r"p must be a finite number, got .*; write one number"):
        number(value, "p")


@pytest.mark.parametrize(
    "value",
    ["1e999999", "1e-999999", "1e5001", "1e9_999_999", "1E+9999999", "1e" + "9" * 5000, Decimal("1e999999"),
     "1e٩٩٩٩٩٩٩"],
)  # fmt: skip
def test_exponents_that_would_fill_the_memory_are_refused(value):
    with pytest.raises(InvalidInput, match="p must have an exponent up to 5000, got"):
        number(value, "p")


def test_leading_zeros_of_an_exponent_do_not_count():
    assert number("1e-00000003", "p") == Fraction(1, 1000)


@given(st.fractions())
def test_exact_text_is_python_text(value):
    assert exact_text(value) == str(value)


@pytest.mark.parametrize("value", [Fraction(1, 7**6000), Fraction(-(3**12000), 7**6000), Fraction(10**5000)])
def test_exact_text_of_any_length_reads_back(value):
    assert number(exact_text(value), "p") == value


def test_long_text_with_a_zero_denominator_is_refused():
    with pytest.raises(InvalidInput, match="p must be a finite number"):
        number("1" * 5000 + "/0", "p")


def test_lists_stay_exact_unless_a_float_is_among_them():
    assert numbers([1, "1/2", Decimal("0.5")], "p", 1).exact.tolist() == [1, Fraction(1, 2), Fraction(1, 2)]
    mixed = numbers([1, "1/2", 0.5, Fraction(1, 4)], "p", 1)
    assert mixed.exact is None
    assert mixed.floats.tolist() == [1.0, 0.5, 0.5, 0.25]


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.longdouble, np.int8, np.uint64])
def test_numpy_numbers_become_floats(dtype):
    read = numbers(np.array([[0, 1]], dtype=dtype), "p", 2)
    assert read.floats.dtype == np.float64
    assert read.floats.tolist() == [[0.0, 1.0]]


def test_text_arrays_and_rows_of_arrays_are_read():
    assert numbers(np.array(["1/3", "2/3"]), "p", 1).exact.tolist() == [Fraction(1, 3), Fraction(2, 3)]
    assert numbers([np.array([0.5, 0.5]), (1.0, 0.0)], "p", 2).floats.tolist() == [[0.5, 0.5], [1.0, 0.0]]
    assert numbers([np.float64(0.5)] * 2, "p", 1).floats.tolist() == [0.5, 0.5]


def test_the_data_is_copied():
    data = np.array([0.5, 0.5])
    read = numbers(data, "p", 1)
    data[0] = 9
    assert read.floats.tolist() == [0.5, 0.5]
    loose = np.array([Fraction(1, 2)] * 2, dtype=object)
    exact = numbers(loose, "p", 1)
    loose[0] = None
    assert exact.exact.tolist() == [Fraction(1, 2)] * 2


@pytest.mark.parametrize("values", ["12", b"12", bytearray(b"12"), None, 3.0, np.array(3.0), {0.5}, {"a": 1},
                                    {"a": 1.0}.values(), (x for x in [1.0]), len])  # fmt: skip
def test_what_is_no_list_is_refused(values):
    with pytest.raises(WrongType, match=r"p must be a list of numbers, got .*; put numbers in a list"):
        numbers(values, "p", 1)


@pytest.mark.parametrize(
    ("values", "dimensions", "message"),
    [
        ([[0.5, 0.5]], 1, r"p must have 1 dimension\(s\), got shape \(1, 2\); give a list of numbers"),
        ([0.5, 0.5], 2, r"p must have 2 dimension\(s\), got shape \(2,\); give a list of rows"),
        (np.ones((1, 1, 1)), 2, r"p must have 2 dimension\(s\), got shape \(1, 1, 1\)"),
        ([[1.0], [0.5, 0.5]], 2, r"p must have rows of equal length, got lengths \[1, 2\]; fill the gaps"),
        ([[0.5, 0.5], 1.0], 2, r"p must have rows of equal length, got lengths \[1, 2\]"),
    ],
)
def test_wrong_shapes_are_refused(values, dimensions, message):
    with pytest.raises(ShapeMismatch, match=message):
        numbers(values, "p", dimensions)


@pytest.mark.parametrize(
    ("values", "dimensions"), [([], 1), ([[]], 2), (np.zeros((0, 3)), 2), (np.zeros((3, 0)), 2)]
)
def test_nothing_is_refused(values, dimensions):
    with pytest.raises(InvalidInput, match=r"p must not be empty, got shape .*; give a list of"):
        numbers(values, "p", dimensions)


@pytest.mark.parametrize(
    "values",
    [np.array([True, False]), np.array([1j]), np.array(["2020-01-01"], dtype="datetime64[D]"),
     np.array([(1, 2.0)], dtype=[("a", int), ("b", float)]), np.array([b"ab"], dtype="V2")],
)  # fmt: skip
def test_arrays_of_other_things_are_refused(values):
    with pytest.raises(WrongType, match=r"p must hold numbers, got .*; convert it to floats or Fractions"):
        numbers(values, "p", 1)


@pytest.mark.parametrize("bad", [True, None, 1j, b"1", {}, datetime.timedelta(1)])
def test_one_bad_entry_is_named_with_its_place(bad):
    rows = [[0.5, 0.5], [0.5, bad]]
    with pytest.raises(WrongType, match="p row 1, column 1 must be a float"):
        numbers(rows, "p", 2)
    loose = np.empty(2, dtype=object)
    loose[:] = [0.5, bad]
    with pytest.raises(WrongType, match="p entry 1 must be a float"):
        numbers(loose, "p", 1)


def test_true_beside_floats_is_not_one():
    with pytest.raises(WrongType, match=r"p entry 0 must be a float, .* got True of type bool"):
        numbers([True, 0.0], "p", 1)


@pytest.mark.parametrize(
    "values", [[[0.5, 0.5], [math.nan, 1]], np.array([[0.5, 0.5], [math.nan, 1]]),
               np.array([[0.5, 0.5], [math.nan, 1]], dtype=object)]
)  # fmt: skip
def test_nan_is_named_with_its_place(values):
    with pytest.raises(InvalidInput, match="p row 1, column 0 must be finite, got nan; remove or impute"):
        numbers(values, "p", 2)


def test_infinities_that_cancel_are_found():
    with pytest.raises(InvalidInput, match="p entry 1 must be finite, got inf"):
        numbers([0.5, math.inf, -math.inf], "p", 1)


def test_finite_numbers_with_an_infinite_sum_are_finite():
    require_finite(np.array([1.7e308, 1.7e308]), "p")
    assert numbers([1.7e308, 1.7e308], "p", 1).floats.tolist() == [1.7e308, 1.7e308]


@pytest.mark.parametrize(
    "values",
    [
        np.ma.masked_array([0.5, 0.5, 0.3], mask=[0, 0, 1]),
        np.ma.masked_array([1, 2], mask=[1, 0]),
        [np.ma.masked, 1.0],
    ],
)
def test_masked_entries_are_refused(values):
    with pytest.raises(InvalidInput, match=r"p.* must not be masked, got .*; fill or remove it"):
        numbers(values, "p", 1)


def test_masked_rows_are_refused_and_unmasked_arrays_read():
    rows = np.ma.masked_array([[0.5, 0.5], [1.0, 0.0]], mask=[[0, 0], [0, 1]])
    with pytest.raises(InvalidInput, match="p entry 1 must not be masked"):
        numbers(list(rows), "p", 2)
    assert numbers(np.ma.masked_array([0.5, 0.5]), "p", 1).floats.tolist() == [0.5, 0.5]


@pytest.mark.skipif(
    np.finfo(np.longdouble).max == np.finfo(np.float64).max, reason="long double is double here"
)
def test_long_doubles_must_fit():
    with pytest.raises(InvalidInput, match="p entry 0 must be finite, got inf"):
        numbers(np.array([np.longdouble("1e4000"), 0]), "p", 1)
    with pytest.raises(InvalidInput, match="p must fit 64-bit floats, got float128 too small"):
        numbers(np.array([np.longdouble("1e-4000"), 1]), "p", 1)


def test_mixing_numbers_beyond_the_float_range_is_refused():
    with pytest.raises(InvalidInput, match=r"p entry 1 is too small for a float, got 1e-400; give"):
        numbers([1.0, "1e-400"], "p", 1)
    with pytest.raises(InvalidInput, match=r"p entry 0 is too large for a float, got 1e\+400; give"):
        numbers([10**400, 0.5], "p", 1)
    with pytest.raises(InvalidInput, match=r"p entry 0 is too large for a float, got -1e\+400"):
        to_floats(np.array([Fraction(-(10**400))], dtype=object), "p")


@given(st.lists(st.fractions(0, 1), min_size=1, max_size=5))
def test_to_floats_rounds_to_nearest(values):
    assert to_floats(np.array(values, dtype=object), "p").tolist() == [float(value) for value in values]


class Frame:
    """Looks like a table of pandas."""

    def __init__(self, data):
        self.data = np.array(data)

    def __array__(self, dtype=None, copy=None):
        if self.data.dtype.kind == "V":
            raise RuntimeError("no")
        return self.data if dtype is None else self.data.astype(dtype)


def test_tables_are_read_through_their_array_and_copied():
    frame = Frame([[0.5, 0.5]])
    read = numbers(frame, "p", 2)
    frame.data[0, 0] = 9
    assert read.floats.tolist() == [[0.5, 0.5]]
    with pytest.raises(WrongType, match="must hold numbers, got bool"):
        numbers(Frame([[True]]), "p", 2)
    with pytest.raises(WrongType, match=r"column 0 must be a float, .* got None"):
        numbers(Frame([[None]]), "p", 2)


def test_a_table_that_cannot_be_read_is_refused():
    with pytest.raises(WrongType, match=r"p must be a list of rows, got .*Frame.*; no\."):
        numbers(Frame(np.zeros(1, dtype="V2")), "p", 2)


def test_a_million_floats_in_a_list():
    assert numbers([1e-6] * 10**6, "p", 1).floats.shape == (10**6,)
