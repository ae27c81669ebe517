"""ENV Theorem 5: the paper's bounds on the envelope of randomised response, and how good they are.

With q ascending, N the index where q_1 + … + q_N first reaches δ > q_1 and θ ∈ (0, 1] the part of outcome N
that is needed, the paper proves ε_c(δ) ≥ h_δ(θ) under a condition on the prior, and conjectures equality.

**The conjecture is true.** The exact envelope is max_j min{α/q_j, τ_j} with τ_j = (jα + β(N − 1 + θ − j))/δ
(`envelopes.randomized_response`), and h_δ(θ) = max{min{α/q_{N−1}, τ_{N−1}}, α/q_N} is its part j ∈ {N − 1, N}. Let
j ≤ N − 2. If τ_{N−1} ≤ α/q_{N−1}, then τ_j ≤ τ_{N−1} is no more than h. Otherwise h ≥ α/q_{N−1}, and with
B = q_1 + … + q_{N−1} the paper's condition reads q_N((N − 2)α + β) ≤ αB, so that
    q_{N−1}((N − 2)α + β(1 + θ)) ≤ αB + αθq_N = αδ,   that is   τ_j ≤ τ_{N−2} ≤ α/q_{N−1} ≤ h.

**Without the condition** h is still a lower bound, since it is a part of the maximum. Where it is short, the
argument shows h ≥ α/q_{N−1} with p_{N−1} ≤ ½, and ε_c ≤ log α/β, so that with e^ε = α/β it is short by less than
    log (e^ε + 1)/2,
which is the supremum: masses (0+, …, 0+, ½, ½), δ = 1, k → ∞. It is 0.62 nats at ε = 1 and has no limit in ε.

Measured by `python -m papers.env_theorem5` (2000 random priors, k from 3 to 12, ε from 0.2 to 5, seed 1): the condition
holds in 961, and h equals the envelope in all of them, as rationals; of the 1039 others h is equal in 570, and
short by 0.12 nats on average and by 1.61 at most.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from tightlip.envelopes.response import response_entries
from tightlip.envelopes.result import read_delta
from tightlip.errors import PreconditionFailed, WrongType, quoted
from tightlip.model.prior import Prior
from tightlip.numeric.quantity import Nats


@dataclass(frozen=True, slots=True)
class _Setting:
    """N, θ and what the formulas need, in rationals; N = 1 for δ ≤ q_1."""

    alpha: Fraction
    beta: Fraction
    q: list[Fraction]
    delta: Fraction
    index: int
    theta: Fraction

    @property
    def before(self) -> Fraction:
        """q_1 + … + q_{N−1}."""
        return sum(self.q[: self.index - 1], Fraction(0))


def theorem5_bound(prior: Prior, epsilon: float, delta: object) -> Nats:
    """Compute the lower bound h_δ(θ) of ENV Theorem 5 (iii), rounded down; part (i) where δ ≤ q_1.

    A valid lower bound for every prior; equal to the envelope where `theorem5_condition` holds.

    >>> from tightlip import Prior, log_of
    >>> theorem5_bound(Prior(["1/5", "3/10", "1/2"]), log_of(2), "2/5").ratio
    Fraction(20, 13)
    """
    case = _read(prior, epsilon, delta)
    if case.index == 1:
        return Nats.of_ratio(case.alpha / case.q[0], "down")
    last, previous = case.q[case.index - 1], case.q[case.index - 2]
    theta_1, theta_2 = _segments(case)
    if case.theta <= theta_1:
        ratio = case.alpha / previous
    elif case.theta <= theta_2:
        ratio = ((case.index - 1) * case.alpha + case.theta * case.beta) / case.delta
    else:
        ratio = case.alpha / last
    return Nats.of_ratio(ratio, "down")


def theorem5_condition(prior: Prior, epsilon: float, delta: object) -> bool:
    """Check whether the prior satisfies the condition of ENV Theorem 5 (iii); it is empty for δ ≤ q_1.

    p_N ≤ (α(p_1 + … + p_{N−1}) + β)/((N − 2)α + β), or equally q_N((N − 2)α + β) ≤ α(q_1 + … + q_{N−1}).

    >>> from tightlip import Prior, log_of
    >>> theorem5_condition(Prior(["1/50", "1/50", "12/25", "12/25"]), log_of(9), 1)
    False
    """
    case = _read(prior, epsilon, delta)
    if case.index == 1:
        return True
    weight = (case.index - 2) * case.alpha + case.beta
    return case.q[case.index - 1] * weight <= case.alpha * case.before


def theorem5_upper(prior: Prior, epsilon: float, delta: object) -> Nats:
    """Compute the upper bound of ENV Theorem 5: min{log kα/δ, log α/q_1}, rounded up.

    >>> from tightlip import Prior, log_of
    >>> theorem5_upper(Prior(["1/5", "3/10", "1/2"]), log_of(2), "9/10").ratio
    Fraction(5, 3)
    """
    case = _read(prior, epsilon, delta)
    bound = min(len(case.q) * case.alpha / case.delta, case.alpha / case.q[0])
    return Nats.of_ratio(max(bound, Fraction(1)))  # stored floats can sum to a little over 1


def _segments(case: _Setting) -> tuple[Fraction, Fraction]:
    """θ_1 and θ_2, where the segments of h end; 0 where a formula is 0/0 since α = β."""
    if case.alpha == case.beta:
        return Fraction(0), Fraction(0)
    alpha, beta, count = case.alpha, case.beta, case.index
    last, previous = case.q[count - 1], case.q[count - 2]
    theta_1 = alpha * ((count - 1) * previous - case.before) / (alpha * last - beta * previous)
    theta_2 = alpha * ((count - 1) * last - case.before) / (last * (alpha - beta))
    return theta_1, theta_2


def _read(prior: Prior, epsilon: float, delta: object) -> _Setting:
    if not isinstance(prior, Prior):
        raise WrongType(f"prior must be a Prior, got {quoted(prior)}; write Prior(masses).")
    wanted = read_delta(delta)
    alpha, beta = response_entries(len(prior), epsilon)
    masses = sorted(Fraction(mass) for mass in prior.masses.tolist())
    if not masses[0]:
        raise PreconditionFailed(
            "prior must give every secret a positive mass in ENV Theorem 5, got 0; "
            "use envelopes.randomized_response, which is exact for any prior."
        )
    total = sum(masses, Fraction(0))
    q = [beta * total + (alpha - beta) * mass for mass in masses]
    reached, index = q[0], 1
    wanted = min(wanted, sum(q, Fraction(0)))  # stored floats can sum to a little under 1
    while reached < wanted:
        reached += q[index]
        index += 1
    theta = (wanted - (reached - q[index - 1])) / q[index - 1]
    return _Setting(alpha, beta, q, wanted, index, theta)
