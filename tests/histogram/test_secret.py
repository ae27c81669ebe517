"""Secrets: values by definition, their order, and what is refused."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from tightlip.errors import InvalidInput, WrongType
from tightlip.histogram.secret import Category, Except, Ratio, RatioDifference, Share
from tightlip.histogram.table import tabulate


def domain(groups=("a", "b", "c")):
    feasible = {"group": groups, "income": ("high", "low")}
    return tabulate({"group": ["a"], "income": ["low"]}, ["group", "income"], feasible=feasible).domain


def histograms(total, cells):
    return [np.array(h) for h in product(range(total + 1), repeat=cells) if sum(h) == total]


def share(counts, part, whole):
    rows = sum(int(counts[cell]) for cell in whole)
    return Fraction(sum(int(counts[cell]) for cell in part), rows) if rows else Fraction(0)


DEFINITIONS = [  # cells: a high, a low, b high, b low, c high, c low
    (Share({"income": "high"}), lambda h: share(h, (0, 2, 4), range(6))),
    (Share({"group": ["a", "b"]}), lambda h: share(h, (0, 1, 2, 3), range(6))),
    (Ratio({"income": "high"}, {"group": "a"}), lambda h: share(h, (0,), (0, 1))),
    (Ratio({"income": "high"}, {"group": Except("a")}), lambda h: share(h, (2, 4), (2, 3, 4, 5))),
    (
        RatioDifference({"income": "high"}, {"group": "a"}, {"group": "b"}),
        lambda h: share(h, (0,), (0, 1)) - share(h, (2,), (2, 3)),
    ),
    (
        RatioDifference({"income": "high"}, {"group": "a"}, {"group": Except("a")}),
        lambda h: share(h, (0,), (0, 1)) - share(h, (2, 4), (2, 3, 4, 5)),
    ),
]


@pytest.mark.parametrize(
    ("secret", "definition"), DEFINITIONS, ids=[str(secret) for secret, _ in DEFINITIONS]
)
def test_values_and_their_order(secret, definition):
    grouped = secret.on(domain(), 4)
    tables = histograms(4, 6)
    possible = sorted({definition(h) for h in tables})
    assert grouped.size == len(possible)
    for h in tables:
        assert grouped.value(h) == definition(h)
        assert grouped.index(h) == possible.index(definition(h))


@pytest.mark.parametrize(
    "secret",
    [
        Ratio({"income": "high"}, {"group": "a"}, resolution="2/5"),
        RatioDifference({"income": "high"}, {"group": "a"}, {"group": "b"}, resolution="1/2"),
        RatioDifference({"income": "high"}, {"group": "a"}, {"group": ["b", "c"]}, resolution="3/4"),
    ],
    ids=str,
)
def test_resolution(secret):
    """Rounded down to a multiple, also the top value; no multiple is without a table."""
    grouped = secret.on(domain(), 4)
    step = secret.resolution
    seen = set()
    lowest = min(grouped.value(h) // step for h in histograms(4, 6))
    for h in histograms(4, 6):
        place = grouped.value(h) // step - lowest
        assert grouped.index(h) == place
        low, high = grouped.scale.interval(place)
        assert low <= grouped.value(h) <= high
        seen.add(place)
    assert seen == set(range(grouped.size))


def test_exact_points():
    scale = Ratio({"income": "high"}, {"group": "a"}).on(domain(), 3).scale
    assert scale.interval(1) == (Fraction(1, 3), Fraction(1, 3))


@pytest.mark.parametrize(
    ("secret", "rows", "message"),
    [
        (Share({"colour": "red"}), 4, "must be one of the released columns"),
        (Share({"income": "hihg"}), 4, 'must have the value "hihg"'),
        (Share({}), 4, "must be able to vary, got every cell"),
        (Share({"income": Except("high", "low")}), 4, "must be able to vary, got no cell"),
        (Ratio({"income": "high"}, {}), 4, "use Share"),
        (Ratio({"group": "a"}, {"group": "a"}), 4, "must be able to vary"),
        (RatioDifference({"income": "high"}, {"group": ["a", "b"]}, {"group": "b"}), 4, "must be disjoint"),
        (Ratio({"income": "high"}, {"group": "a"}), 301, "resolution must be given"),
        (RatioDifference({"income": "high"}, {"group": "a"}, {"group": "b"}), 41, "resolution must be given"),
        (Ratio({"income": "high"}, {"group": "a"}, resolution="1/10"), 4, "resolution must be at least 1/3"),
        (Ratio({"income": "high"}, {"group": "a"}, resolution="1/10"), 10**9, "a short fraction"),
    ],
)
def test_secrets_that_do_not_fit_the_table(secret, rows, message):
    with pytest.raises(InvalidInput, match=message):
        secret.on(domain(), rows)


@pytest.mark.parametrize("step", [0, "-1/2", "3/2"])
def test_bad_resolutions(step):
    with pytest.raises(InvalidInput, match="resolution must be in"):
        Ratio({"income": "high"}, {"group": "a"}, resolution=step)


@pytest.mark.parametrize("where", ["income", ["income"], {1: "high"}])
def test_bad_categories(where):
    with pytest.raises(WrongType, match="a category must"):
        Category(where)


def test_numbers_are_text():
    table = tabulate([{"age": 30}, {"age": 40}], ["age"])
    assert Category({"age": 30}).cells(table.domain).tolist() == [True, False]
    assert str(Category({})) == "any row"
