"""SML Propositions 3 to 5: closed bounds for mis-specified supports, with their conditions checked.

`misspecified` has tighter ends at every size; these are the paper's, where they hold, in its notation: τ units,
s = τ + 1 secrets, d̂ estimated cells, m = d* − d̂0 missing ones, D = d* + d̂1 cells in all,
N(d) = C(τ + d − 1, d − 1), K = ⌈s/I⌉. Logarithms inside conditions are to base 2.

Corrections. Proposition 4 for quantization is printed for any secret and needs the share of a listed cell, which a
`MisspecifiedSupport` is about: with one unit, ten listed cells, e_11 missing, a secret whose second value is
{e_1, e_11} and I = 2, e^Π = 3/2 and it says 10/9. Proposition 5 takes log s or log I cells where fewer secrets than
sets of missing cells are there; it must be a whole number, so they are rounded down here. And its third case is
**false** as printed, for both mechanisms: it gives ⌊m/s⌋ or ⌊m/I⌋ missing cells to each secret, also to tables that
have no units left for them, and for quantization counts τI/2s free units in every bin, but the last bin has fewer. At
τ = 14, d̂ = 2, m = 75, ε = 0 it says e^Π ≥ 14.8566 for randomised response, and e^Π ≤ 14.8462; at τ = 1, I = 2,
d̂ = 2, m = 2 it says e^Π ≥ 4/3 for quantization, and e^Π = 1. With one missing cell for every secret but one (in a
bin), and the true n = τ − R(K − 1) units of the last bin, it becomes

    randomised response, m ≥ s:   s − (s − 1) d̂/(τ + d̂),      quantization, m ≥ I:   s − (s − K)(d̂ − 1)/(n + d̂ − 1).
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from tightlip.errors import PreconditionFailed
from tightlip.histogram.counting import BALLS, Field, Number, exactly, read_growth, smallest
from tightlip.histogram.privacy import Privacy
from tightlip.histogram.quantization import Quantization
from tightlip.histogram.space import HistogramSpace
from tightlip.numeric.ball import enclose
from tightlip.numeric.quantity import Nats
from tightlip.papers.misspecified import MisspecifiedSupport, read_support


def proposition3_response(
    support: MisspecifiedSupport, epsilon: object = None, *, ratio: object = None
) -> Nats:
    """Bound by Proposition 3: m wrong cells cost randomised response at most m log 3, if e^ε − 1 ≤ N(d̂)/s.

    The excess over the privacy log (1 + s r)/(1 + r) of a holder that lists the d* feasible cells; rounded up.

    Raises
    ------
    PreconditionFailed
        If ε is too large for the proposition.

    >>> proposition3_response(MisspecifiedSupport(5, 2, 0, 1), ratio=2).ratio
    Fraction(3, 1)
    """
    read_support(support)
    growth = read_growth(epsilon, ratio)

    def load(field: Field) -> Number:
        return support.secrets * (field.growth(growth) - 1) / _count(field, support, support.estimated)

    known = exactly(load)
    held = known <= 1 if known is not None else enclose(lambda: load(BALLS))[1] <= 1
    if not held:
        raise PreconditionFailed(
            "epsilon must satisfy (e^epsilon − 1)·s ≤ C(τ + d̂ − 1, d̂ − 1) in SML Proposition 3, and does not; "
            "use misspecified_response_privacy, which needs no condition."
        )
    return _bound(lambda field: field.power(3, support.missing)).upper


def proposition3_quantization(support: MisspecifiedSupport) -> Nats:
    """Bound by Proposition 3: m wrong cells cost quantization at most m log(1 + τ/(τ + d̂ − 2)), at most m bits.

    >>> proposition3_quantization(MisspecifiedSupport(5, 2, 1, 2)).ratio
    Fraction(121, 36)
    """
    read_support(support)
    return _bound(lambda field: _one_more(field, support)).upper


def proposition4_response(
    support: MisspecifiedSupport, epsilon: object = None, *, ratio: object = None
) -> Nats:
    """Bound by Proposition 4: an upper end for randomised response, any secret of s values.

    min{ s(e^ε−1)/(N(d̂)+e^ε−1) + (1 + τ/(τ+d̂−1))^m N(D)/(N(D)+e^ε−1),
         1 + s − s (d̂/(τ+D−1))^m / (1 + (e^ε−1)/N(D)) }, the log of it, rounded up.

    >>> proposition4_response(MisspecifiedSupport(5, 2, 0, 1), ratio=2).ratio
    Fraction(73, 28)
    """
    read_support(support)
    growth = read_growth(epsilon, ratio)
    total, secrets, estimated = support.total, support.secrets, support.estimated

    def upper(field: Field) -> Number:
        rate, wide = field.growth(growth) - 1, _count(field, support, support.widest)
        sets = field.power(1 + Fraction(total, total + estimated - 1), support.missing)
        first = secrets * rate / (_count(field, support, estimated) + rate) + sets * wide / (wide + rate)
        alone = field.power(Fraction(estimated, total + support.widest - 1), support.missing)
        return smallest([first, 1 + secrets - secrets * alone / (1 + rate / wide)])

    return _bound(upper).upper


def proposition4_quantization(support: MisspecifiedSupport, bin_size: int) -> Nats:
    """Bound by Proposition 4: for quantization, at most min{K(1 + τ/(τ+d̂−2))^m, K + s − s((d̂−1)/(τ+D−2))^m}.

    The log of it, rounded up; for the share of a listed cell, not for any secret as printed.

    >>> proposition4_quantization(MisspecifiedSupport(5, 2, 0, 1), 3).ratio
    Fraction(4, 1)
    """
    bins, secrets = _case(support, bin_size).bins, support.secrets
    alone = Fraction(support.estimated - 1, support.total + support.widest - 2)

    def upper(field: Field) -> Number:
        spread = bins + secrets - secrets * field.power(alone, support.missing)
        return smallest([bins * _one_more(field, support), spread])

    return _bound(upper).upper


def proposition5_response(
    support: MisspecifiedSupport, epsilon: object = None, *, ratio: object = None
) -> Nats:
    """Bound by Proposition 5: a lower end for randomised response, corrected; rounded down.

    With j = min(m, ⌊log2 s⌋), m < s: s(e^ε−1)/(N(D)+e^ε−1) + (1 + (τ−j)/(τ+D−1))^j N(d̂)/(N(d̂)+e^ε−1).

    >>> proposition5_response(MisspecifiedSupport(5, 2, 0, 1), ratio=2).ratio
    Fraction(873, 539)
    """
    read_support(support)
    growth = read_growth(epsilon, ratio)
    total, secrets, estimated = support.total, support.secrets, support.estimated
    if support.missing >= secrets:
        alone = Fraction((secrets - 1) * estimated, total + estimated)
        return _bound(lambda field: field.number(secrets - alone)).lower
    span = min(support.missing, secrets.bit_length() - 1)
    base = 1 + Fraction(total - span, total + support.widest - 1)

    def lower(field: Field) -> Number:
        rate, narrow = field.growth(growth) - 1, _count(field, support, estimated)
        kept = secrets * rate / (_count(field, support, support.widest) + rate)
        return kept + field.power(base, span) * narrow / (narrow + rate)

    return _bound(lower).lower


def proposition5_quantization(support: MisspecifiedSupport, bin_size: int) -> Nats:
    """Bound by Proposition 5: a lower end for quantization, corrected; rounded down.

    With j = min(m, ⌊log2 I⌋), m < I: ⌊s/I⌋ (1 + (τI − 2sj)/(τI + 2s(D − 2)))^j.

    >>> proposition5_quantization(MisspecifiedSupport(5, 2, 0, 1), 3).ratio
    Fraction(20, 9)
    """
    case, secrets = _case(support, bin_size), support.secrets
    if support.missing >= case.bin_size:
        free, others = support.total - case.representative(case.bins - 1), support.estimated - 1
        value = secrets - Fraction((secrets - case.bins) * others, free + others)
        return _bound(lambda field: field.number(value)).lower
    span = min(support.missing, case.bin_size.bit_length() - 1)
    units = support.total * case.bin_size
    base = 1 + Fraction(units - 2 * secrets * span, units + 2 * secrets * (support.widest - 2))
    return _bound(lambda field: secrets // case.bin_size * field.power(base, span)).lower


def _bound(ratio: Callable[[Field], Number]) -> Privacy:
    """log ratio, but at least 0."""
    known = exactly(ratio)
    if known is not None:
        return Privacy.of_ratio(max(known, Fraction(1)), "SML Propositions 3 to 5")
    return Privacy.of_excess(lambda field: ratio(field) - 1, "SML Propositions 3 to 5")


def _case(support: MisspecifiedSupport, bin_size: int) -> Quantization:
    read_support(support)
    return Quantization(HistogramSpace(support.total, support.estimated), bin_size)


def _count(field: Field, support: MisspecifiedSupport, cells: int) -> Number:
    """N(d)."""
    return field.binomial(support.total + cells - 1, cells - 1)


def _one_more(field: Field, support: MisspecifiedSupport) -> Number:
    """(1 + τ/(τ + d̂ − 2))^m."""
    step = 1 + Fraction(support.total, support.total + support.estimated - 2)
    return field.power(step, support.missing)
