"""Statistic maximal leakage: what a release tells about one known secret g(θ), for the worst prior.

    Π = max over one row θ_g for each secret g of  log Σ_y max_g K(y | θ_g)          (SML paper, Proposition 1)

Deterministic releases are a matching problem and solved exactly; the rest is NP-hard, so both ends are proved
separately: a selection below, prices of outputs above (see docs/statistic.md).

Deterministic releases ask for the number of outputs that secrets can claim at once, by maximum bipartite matching. A
secret can claim an output that one of its inputs is mapped to, each secret one, each output once. Kőnig: the largest
number of claims is the size of the smallest vertex cover, read off from the alternating paths.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tightlip.certificate.statistic import (
    COST,
    MAXIMAL,
    Kind,
    Leaf,
    PriceProof,
    SelectionProof,
    Split,
    StatisticCertificate,
    Table,
)
from tightlip.certificate.statistic_map import CoverProof, MapCertificate
from tightlip.errors import InvalidInput, WrongType
from tightlip.model.channel import Channel
from tightlip.model.labels import Labels, places_of, split_labels
from tightlip.model.matrix import Matrix, dense, is_sparse
from tightlip.numeric.display import format_up, several
from tightlip.numeric.parse import float_number
from tightlip.statistic.cover import Cover, by_group
from tightlip.statistic.groups import Groups, Places, group_by_label, group_outputs, groups_of
from tightlip.statistic.judge import ExactJudge, FloatJudge, Judge
from tightlip.statistic.result import StatisticLeakage
from tightlip.statistic.search import Found, Search
from tightlip.statistic.work import WORK, Work

_ALWAYS_VERIFIED = 200_000
_FLOAT_SLACK = Fraction(1, 10**12)


def statistic_maximal_leakage(
    channel: Channel,
    secret: Any = None,
    *,
    work: float = WORK,
    time_limit: float | None = None,
    gap: float = 0.0,
) -> StatisticLeakage:
    """Compute the statistic maximal leakage Π of a channel about the secret of its rows.

    Parameters
    ----------
    channel : Channel
        Rows are inputs θ, columns released outcomes.
    secret : sequence or mapping, optional
        The secret label of each row; by default each row is a secret of its own, and Π is maximal leakage.
    work : float
        Millions of entries of the channel that may be read in search of ends that meet; both are sound wherever it
        stops, and the same in every run.
    time_limit : float, optional
        Seconds after which the search stops too; how far it comes then depends on the machine.
    gap : float
        The relative gap between the ends of e^Π at which the search may stop early.

    Returns
    -------
    StatisticLeakage
        Two sound ends in nats, whether they met, the selection that reaches the lower one, and the proof.

    Raises
    ------
    InvalidInput
        When the labels do not fit the rows, or work, time_limit or gap is out of range.

    >>> from tightlip import Channel
    >>> rows = [["7/10", "2/10", "1/10"], ["1/10", "6/10", "3/10"], ["2/10", "2/10", "6/10"], ["1/2", "1/4", "1/4"]]
    >>> found = statistic_maximal_leakage(Channel(rows), ["low", "low", "high", "high"])
    >>> found.ratio, found.exact, dict(found.selection)
    (Fraction(3, 2), True, {'low': 0, 'high': 2})
    >>> found.verify()
    """
    groups = groups_of(channel, secret)
    most, allowed = Work(work, time_limit), _read_gap(gap)
    outputs = outputs_if_deterministic(channel.matrix)
    if outputs is not None:
        return _matching_leakage(channel, groups, largest_matching(groups, outputs, channel.shape[1]))
    floats = channel.matrix.astype(np.float64) if channel.is_exact else channel.floats
    cover = Cover.of(floats, groups)
    judge: Judge = FloatJudge(cover)
    if channel.is_exact:
        table = Table.of(channel, groups.rows(), MAXIMAL)
        judge = ExactJudge(cover, table, (Fraction(0),) * channel.shape[1])
    found = Search(cover, judge, work=most, gap=allowed).run()
    return certify(channel, groups, cover, found, MAXIMAL)


def maximal_leakage_of_map(outputs: Any, secret: Any) -> StatisticLeakage:
    """Compute the statistic maximal leakage of a deterministic release, given as input → output; exact.

    Parameters
    ----------
    outputs : sequence or mapping
        The output of each input. Mappings and pandas Series are read by key or index.
    secret : sequence or mapping
        The secret of each input, in the same order or by the same keys.

    >>> found = maximal_leakage_of_map(["a", "a", "b", "b"], ["x", "y", "y", "z"])
    >>> found.ratio, found.exact
    (Fraction(2, 1), True)
    >>> maximal_leakage_of_map({"Ann": 1, "Bob": 2}, {"Ann": "ill", "Bob": "well"}).selection["well"]
    'Bob'
    """
    released, names = group_outputs(outputs)
    groups = group_by_label(_in_order(secret, names), len(released.codes), "secret", "inputs")
    found = largest_matching(groups, released.codes, released.count)
    rows = tuple(found.rows.tolist())
    certificate = MapCertificate(
        released.rows(),
        groups.rows(),
        SelectionProof(Fraction(found.size), rows),
        CoverProof(found.size, tuple(released.labels[place] for place in found.covered_outputs.tolist())),
    )
    certificate.verify()
    chosen = dict(zip(groups.labels, rows if names is None else (names[row] for row in rows), strict=True))
    return _result(certificate, chosen, _matching_words(found), exact=True, ratio=Fraction(found.size))


def _in_order(secret: Any, names: Labels | None) -> Any:
    """The secrets in the order of the inputs, which are found by label where outputs have labels."""
    values, own = split_labels(secret, "secret")
    if (own is None) != (names is None):
        raise WrongType(
            "outputs and secret must both have labels (mappings, Series) or both be lists, got one of each; "
            "give both in one form."
        )
    if names is None or own is None:
        return secret
    return [values[place] for place in places_of(names, own, "secret", "inputs")]


def _read_gap(gap: object) -> float:
    allowed = float_number(gap, "gap")
    if not 0 <= allowed < 1:
        raise InvalidInput(f"gap must be in [0, 1), got {allowed!r}; 0 asks for ends that meet.")
    return allowed


def cost_leakage(
    channel: Channel,
    secret: Any = None,
    *,
    work: float = WORK,
    time_limit: float | None = None,
    gap: float = 0.0,
) -> StatisticLeakage:
    """Compute the cost leakage Π_inf = −log min over selections of Σ_y min_g K(y | θ_g): about the least likely secret.

    The parameters and the result are those of `statistic_maximal_leakage`; with each row a secret of its own it is
    maximal cost leakage. Infinite (and exact) where some selection lets every output exclude a secret. With column
    peaks c_y it is the same search on c_y − K. (SML paper, Appendix K.)

    >>> from tightlip import Channel
    >>> found = cost_leakage(Channel([["3/4", "1/4"], ["1/4", "3/4"]]))
    >>> found.ratio, found.exact
    (Fraction(2, 1), True)
    """
    groups = groups_of(channel, secret)
    most, allowed = Work(work, time_limit), _read_gap(gap)
    peaks = [Fraction(peak) for peak in channel.peaks.tolist()]
    cover = Cover.of((channel.peaks - dense(channel.matrix)).astype(np.float64), groups)
    table = Table.of(channel, groups.rows(), COST)
    slack = Fraction(0) if channel.is_exact else _FLOAT_SLACK
    judge = ExactJudge(cover, table, tuple(-peak for peak in peaks), slack)
    found = Search(cover, judge, work=most, gap=allowed).run()
    return certify(channel, groups, cover, found, COST)


def certify(channel: Channel, groups: Groups, cover: Cover, found: Found, kind: Kind) -> StatisticLeakage:
    """Certify what a search found, and check it in rationals where that takes no long time."""
    rows = by_group(cover, found.selection, groups)
    nothing_left = kind == COST and found.lower == 0
    certificate = StatisticCertificate(
        channel,
        groups.rows(),
        kind,
        SelectionProof(found.lower, rows),
        PriceProof(found.upper, found.prices, found.nodes),
    )
    known = channel.is_exact and found.met and not nothing_left
    ratio = (found.lower if kind == MAXIMAL else -1 / found.lower) if known else None
    result = _result(
        certificate,
        _selected_labels(channel, groups, rows),
        _search_words(found, cover),
        exact=found.met or nothing_left,
        ratio=ratio,
    )
    if len(cover.values) * len(found.prices) <= _ALWAYS_VERIFIED:
        result.verify()
    return result


def _matching_leakage(channel: Channel, groups: Groups, found: Matching) -> StatisticLeakage:
    prices = np.zeros(channel.shape[1], dtype=int)
    prices[found.covered_outputs] = 1
    total, rows = Fraction(found.size), tuple(found.rows.tolist())
    certificate = StatisticCertificate(
        channel,
        groups.rows(),
        MAXIMAL,
        SelectionProof(total, rows),
        PriceProof(total, (tuple(Fraction(price) for price in prices.tolist()),), (Leaf(0),)),
    )
    named = _selected_labels(channel, groups, rows)
    result = _result(certificate, named, _matching_words(found), exact=True, ratio=total)
    if channel.shape[0] <= _ALWAYS_VERIFIED:
        result.verify()
    return result


def _selected_labels(channel: Channel, groups: Groups, rows: tuple[int, ...]) -> dict[Any, Any]:
    return {label: channel.inputs[row] for label, row in zip(groups.labels, rows, strict=True)}


def _result(
    certificate: StatisticCertificate | MapCertificate,
    selection: dict[Any, Any],
    method: str,
    *,
    exact: bool,
    ratio: Fraction | None,
) -> StatisticLeakage:
    claim = certificate.claim()
    lower = min(claim.lower, claim.upper)
    return StatisticLeakage(lower, claim.upper, exact, selection, method, certificate, ratio)


def _matching_words(found: Matching) -> str:
    return f"maximum bipartite matching of size {found.size}, proved by a vertex cover"


def _search_words(found: Found, cover: Cover) -> str:
    splits = sum(isinstance(node, Split) for node in found.nodes)
    how = f"branch and bound with {several(splits, 'split')}" if splits else "greedy choice and exchange"
    text = f"{how}, proved by prices of {several(cover.outputs, 'output')}"
    if not found.met:
        apart = abs((found.upper - found.lower) / found.lower) if found.lower else math.inf
        text += f"; the ends of the sum are a relative {format_up(apart, 2)} apart"
        text += f", the search stopped {found.stopped}" if found.stopped else ""
    return text


@dataclass(frozen=True, slots=True)
class Matching:
    """The row each secret stands on, how many outputs they reach, and the outputs of a cover of that size."""

    rows: Places
    size: int
    covered_outputs: Places


def outputs_if_deterministic(matrix: Matrix) -> Places | None:
    """Find the one output of each row; None where some row has more than one."""
    if is_sparse(matrix):
        each = np.diff(matrix.indptr)
        return (
            np.asarray(matrix.indices).astype(np.intp)
            if (each == 1).all() and (matrix.data == 1).all()
            else None
        )
    if not ((matrix == 0) | (matrix == 1)).all():
        return None
    return np.asarray(np.argmax(matrix == 1, axis=1), dtype=np.intp)


def largest_matching(groups: Groups, outputs: Places, output_count: int) -> Matching:
    """Match secrets with outputs, and cover all claims by as many secrets and outputs."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import maximum_bipartite_matching

    keys = groups.codes.astype(np.int64) * output_count + outputs
    claims, first_rows = np.unique(keys, return_index=True)
    secrets, targets = claims // output_count, claims % output_count
    graph = csr_array(
        (np.ones(len(claims), dtype=np.int8), (secrets, targets)), shape=(groups.count, output_count)
    )
    partner = np.asarray(maximum_bipartite_matching(graph, perm_type="column"))
    matched = partner >= 0
    rows = np.empty(groups.count, dtype=np.intp)
    rows[groups.codes[::-1]] = np.arange(
        len(groups.codes) - 1, -1, -1
    )  # any row will do for an unmatched secret
    wanted = np.flatnonzero(matched).astype(np.int64) * output_count + partner[matched]
    rows[matched] = first_rows[np.searchsorted(claims, wanted)]
    return Matching(rows, int(matched.sum()), _reachable_outputs(secrets, targets, partner, output_count))


def _reachable_outputs(
    secrets: NDArray[Any], targets: NDArray[Any], partner: NDArray[Any], output_count: int
) -> Places:
    """Outputs that alternating paths from unmatched secrets reach: the output side of the smallest cover."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import breadth_first_order

    count = len(partner)
    free, matched = np.flatnonzero(partner < 0), np.flatnonzero(partner >= 0)
    source = count + output_count
    tails = np.concatenate([secrets, count + partner[matched], np.full(len(free), source)])
    heads = np.concatenate([count + targets, matched, free])
    graph = csr_array((np.ones(len(tails), dtype=np.int8), (tails, heads)), shape=(source + 1, source + 1))
    seen = breadth_first_order(graph, source, return_predecessors=False)
    return np.sort(seen[(seen >= count) & (seen < source)] - count)
