"""The exception tree and how values are shown in messages."""

import pytest

from tightlip import errors
from tightlip.errors import quoted


@pytest.mark.parametrize(
    "kind",
    [
        errors.WrongType,
        errors.InvalidPrior,
        errors.InvalidChannel,
        errors.InvalidLabels,
        errors.ShapeMismatch,
        errors.PreconditionFailed,
    ],
)
def test_bad_input_is_a_value_error_of_ours(kind):
    assert issubclass(kind, errors.InvalidInput)
    assert issubclass(kind, ValueError)
    assert issubclass(kind, errors.TightlipError)


def test_the_two_kinds_that_are_also_builtin_kinds():
    assert issubclass(errors.WrongType, TypeError)
    assert issubclass(errors.NumericalFailure, ArithmeticError)
    assert not issubclass(errors.NumericalFailure, ValueError)


def test_every_exception_is_in_the_tree_at_the_top():
    names = [
        name for name, kind in vars(errors).items() if getattr(kind, "__module__", "") == errors.__name__
    ]
    names = [name for name in names if name[0].isupper()]
    assert len(names) == 14
    for name in names:
        assert name in errors.__doc__


def test_quoted_shows_text_in_double_quotes_and_the_rest_as_repr():
    assert quoted("blue") == '"blue"'
    assert quoted(None) == "None"
    assert quoted(0.5) == "0.5"


def test_quoted_cuts_at_the_limit():
    assert quoted("x" * 58) == '"' + "x" * 58 + '"'
    assert quoted("x" * 59) == '"' + "x" * 58 + "…"
    assert quoted(12345, limit=4) == "123…"


def test_quoted_stays_on_one_line():
    assert quoted("a\nb\r\nc") == '"a b c"'


def test_quoted_survives_values_that_cannot_be_shown():
    class Silent:
        def __repr__(self):
            raise RuntimeError

    assert quoted(10**5000) == "about 1e5000"
    assert quoted(Silent()) == "<Silent>"
