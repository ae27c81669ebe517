"""ENV, the numerical examples: Examples 1 to 4, what the text says about them, and the mechanisms of Section V."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction

from papers.charts import curves
from papers.reproduction import Compared, Panel, Reproduction, Row, Value, main, point
from tightlip import Prior, envelope, event_leakage, log_of, pml
from tightlip.envelopes import bounds, envelope_curve
from tightlip.measures import dp_tail_bound, privacy_profile, probabilistic_dp_tail, psi1, psi2
from tightlip.mechanism import identity, pml_extremal
from tightlip.mechanism import randomized_response as response
from tightlip.papers import env_example_1, env_example_1_merge, env_example_3

UNIFORM = Prior.uniform(4)
LOW = log_of("10/9")
POINTS = 49
CURVES = ["envelope", "quantile of Y", "binary", "ℒ + log 1/δ", "largest ℓ(y)", "log M/δ"]


def example_1() -> Iterator[Value]:
    """Leakage before and after merging outcomes, ψ1 and ψ2."""
    channel, merged = env_example_1(), env_example_1().post_process(env_example_1_merge())
    before, after = pml(channel, UNIFORM), pml(merged, UNIFORM)
    for outcome, printed in zip((1, 2, 3, 4), ("4", "4", "10/9", "10/9"), strict=True):
        ratio = before.value_of(outcome).ratio
        yield Value("Example 1", f"ℓ(X → {outcome})", f"log {printed}", Fraction(printed), ratio, log=True)
    for outcome in (1, 2):
        mass = before.exact_probability_of(outcome)
        yield Value("Example 1", f"P_Y({outcome})", "1/20", Fraction(1, 20), mass)
    tail = before.tail(LOW).fraction
    yield Value("Example 1", "P{ℓ(Y) > log 10/9}, so probabilistic PML", "0.1", Fraction(1, 10), tail)
    for outcome in (1, 2):
        ratio = after.value_of(outcome).ratio
        yield Value("Example 1", f"ℓ(X → {outcome}) of Z = h(Y)", "log 6/5", Fraction(6, 5), ratio, log=True)
        mass = after.exact_probability_of(outcome)
        yield Value("Example 1", f"P_Z({outcome}), equiprobable", "1/2", Fraction(1, 2), mass)
    for name, one, printed in (("Y", channel, "13/180"), ("Z", merged, "2/27")):
        found = psi1(one, UNIFORM, LOW).fraction
        yield Value("Theorem 1 (i)", f"ψ1(log 10/9) of {name}", printed, Fraction(printed), found)
    tail = before.tail(log_of(3)).fraction
    yield Value("after Theorem 1", "P{ℓ(Y) > log 3}", "0.1", Fraction(1, 10), tail)
    for level, name, printed in ((log_of(3), "log 3", "1/20"), (LOW, "log 10/9", "13/90")):
        found = psi2(channel, UNIFORM, level).fraction
        yield Value("after Theorem 1", f"ψ2({name})", printed, Fraction(printed), found)


def example_2() -> Iterator[Value]:
    """Quantiles at δ = 0.1, and the envelope up to there."""
    leakage, tenth = pml(env_example_1(), UNIFORM), Fraction(1, 10)
    left, right = leakage.left_quantile(tenth).ratio, leakage.quantile(tenth).ratio
    yield Value("Example 2", "left quantile at δ = 0.1", "log 10/9", Fraction(10, 9), left, log=True)
    yield Value("Example 2", "right quantile at δ = 0.1", "log 4", Fraction(4), right, log=True)
    for delta in ("0.001", "0.05", "0.1"):
        found = envelope(env_example_1(), UNIFORM, delta).upper
        yield Value("after Theorem 2", f"ε_c({delta})", "log 4", math.log(4), found)


def examples_3_and_4() -> Iterator[Value]:
    """The leakage of events."""
    channel, prior = env_example_3(), Prior.uniform(2)
    masses = pml(channel, prior)
    for outcome, printed in ((1, "0.45"), (2, "0.45"), (3, "0.1")):
        mass = masses.exact_probability_of(outcome)
        yield Value("Example 3", f"P_Y({outcome})", printed, Fraction(printed), mass)
    for place, event, text, printed in (
        ("Example 3", {1}, "log 2", Fraction(2)),
        ("Example 3", {2}, "log 2", Fraction(2)),
        ("Example 3", {1, 2}, "0", Fraction(1)),
        ("Example 4", {3}, "0", Fraction(1)),
        ("Example 4", {1, 3}, "log 1/0.55", Fraction(100, 55)),
    ):
        name = ", ".join(map(str, sorted(event)))
        ratio = event_leakage(channel, prior, event).ratio
        yield Value(place, f"ℓ(X → {{{name}}})", text, printed, ratio, log=True)


def mechanisms() -> Iterator[Value]:
    """Constant envelopes, with numbers chosen for the paper's letters."""
    prior, level = Prior(["1/2", "3/10", "1/5"]), log_of("11/10")
    extremal = pml_extremal(prior, level)
    for delta in ("0.1", "0.5", "0.9"):
        found = envelope(extremal, prior, delta).upper
        yield Value("Theorem 4", f"ε_c({delta}), extremal, ε = log 1.1", "ε", math.log(1.1), found)
    uniform, alpha = Prior.uniform(5), math.e / (math.e + 4)
    for delta in ("0.1", "0.5", "0.9"):
        found = envelope(response(5, 1.0), uniform, delta).upper
        yield Value(
            "Corollary 1", f"ε_c({delta}), uniform 5-RR, ε_r = 1", "log kα", math.log(5 * alpha), found
        )
    for delta in (0.3, 0.5, 0.8):
        found = envelope(response(3, 1.0), Prior(["1/5", "3/10", "1/2"]), delta, adversary="binary").upper
        printed = _binary_response([0.2, 0.3, 0.5], delta)
        yield Value("Appendix C-B", f"ε_b({delta}), 3-RR, ε_r = 1", "log (α + (N−2+θ)β)/δ", printed, found)


def _binary_response(masses: list[float], delta: float) -> float:
    """The printed formula: N the index at which the sum of q reaches δ, θ the part of it that is needed."""
    scale = math.e + len(masses) - 1
    alpha, beta = math.e / scale, 1 / scale
    reached, q = 0.0, [beta + (alpha - beta) * mass for mass in sorted(masses)]
    for place, mass in enumerate(q, start=1):
        if reached + mass >= delta:
            return math.log((alpha + (place - 2 + (delta - reached) / mass) * beta) / delta)
        reached += mass
    raise AssertionError(delta)


def curve() -> Iterator[Row]:
    """The envelope of Example 1 between its bounds, which the paper gives as formulas."""
    channel = env_example_1()
    deltas = [Fraction(step, POINTS + 1) for step in range(1, POINTS + 1)]
    for delta, exact in zip(deltas, envelope_curve(channel, UNIFORM, deltas), strict=True):
        known = bounds(channel, UNIFORM, delta)
        values = [
            exact.upper,
            known.quantile,
            known.event,
            known.maximal_leakage,
            known.worst_outcome,
            known.outcome_count,
        ]
        for name, value in zip(CURVES, values, strict=True):
            yield point("Example 1, envelope", name, float(delta), float(value))


def reproduce(quick: bool = False) -> Reproduction:
    """Compute every example; without the curve where it must be quick."""
    values = [*example_1(), *example_2(), *examples_3_and_4(), *mechanisms()]
    drawn = [] if quick else list(curve())
    picture = curves(
        drawn,
        "at",
        "computed",
        by="quantity",
        order=CURVES,
        x_title="δ",
        y_title="leakage, nats",
        y_domain=(0, 2),
    )
    return Reproduction(
        "ENV examples",
        "Examples 1 to 4 and the numbers of the text, and the exact envelope of Example 1, which the "
        "paper bounds.",
        [value.row() for value in values] + drawn,
        [Panel("Example 1: the envelope between (14) and (11)", picture)] if drawn else [],
        [value.compared() for value in values] + [*_remarks(), *(_both_terms(drawn) if drawn else [])],
        "Theorem 4, Corollary 1 and Appendix C-B have letters only. Chosen: the prior (0.5, 0.3, 0.2) "
        "with ε = log 1.1, below log 1/(1 − 0.2); 5-RR and 3-RR with ε_r = 1, the latter with the prior "
        "of Figure 2(a). The statements are for every such choice.",
    )


def _remarks() -> Iterator[Compared]:
    channel, level = response(3, 1.0), 0.4
    tail = float(probabilistic_dp_tail(channel, 2 * level))
    bound = float(dp_tail_bound(level, privacy_profile(channel, level), 2))
    yield Compared(
        "(4), k = 2: what (ε, δ)-DP says of the privacy loss beyond 2ε; 3-RR with ε_r = 1, ε = 0.4",
        "P{L > 2ε} ≤ δ/(1 − e^−ε)",
        f"{tail:.6f} ≤ {bound:.6f}",
        tail <= bound,
    )
    two, one = (
        envelope(identity(2), Prior.uniform(2), "0.9", adversary=adversary, symbols=symbols).upper
        for adversary, symbols in (("k-ary", 2), ("binary", None))
    )
    yield Compared(
        "Algorithm 1 computes the binary envelope (13), for every δ; identity on two uniform secrets, δ = "
        "0.9",
        "equal",
        f"(13): {two:.6f}, Algorithm 1: {one:.6f} nats",
        math.isclose(two, one, rel_tol=1e-9),
        "Algorithm 1 looks at one event; above δ = ½ both cells of a binary Z may be bad. Equal for δ ≤ ½.",
    )


def _both_terms(rows: list[Row]) -> Iterator[Compared]:
    value = {(row["quantity"], row["at"]): row["computed"] for row in rows}
    deltas = sorted({row["at"] for row in rows})
    by_quantile = [d for d in deltas if value["quantile of Y", d] > value["binary", d] + 1e-12]
    by_event = [d for d in deltas if value["binary", d] > value["quantile of Y", d] + 1e-12]
    yield Compared(
        "after (14): either of its two terms may be the larger (Example 1)",
        "both are needed",
        f"the quantile at {len(by_quantile)} and the binary envelope at {len(by_event)} of {len(deltas)} "
        "values of δ",
        bool(by_quantile and by_event),
    )
    lower = [max(value["quantile of Y", d], value["binary", d]) for d in deltas]
    upper = [min(value["ℒ + log 1/δ", d], value["largest ℓ(y)", d]) for d in deltas]
    inside = all(
        a - 1e-9 <= value["envelope", d] <= b + 1e-9 for a, d, b in zip(lower, deltas, upper, strict=True)
    )
    gap = max(value["envelope", d] - a for a, d in zip(lower, deltas, strict=True))
    yield Compared(
        "(14) and (11): the envelope of Example 1 is between them",
        "between",
        f"between, and up to {gap:.3f} nats above (14)" if inside else "not between",
        inside,
    )


if __name__ == "__main__":
    main(reproduce)
