"""Pointwise maximal leakage and pointwise maximal cost.

    PML(y) = log max_x K_xy / q_y        what an outcome lets an adversary gain
    PMC(y) = log max_x q_y / K_xy        what an outcome lets an adversary rule out

over secrets x of positive prior mass, q_y = Σ_x p_x K_xy (PMC paper, Theorems 1 and 3).
"""

from __future__ import annotations

from tightlip.measures.distribution import Kind, PointwiseLeakage, exact_ends
from tightlip.measures.joint import ExactJoint, FloatJoint, join
from tightlip.model.channel import Channel
from tightlip.model.matrix import freeze
from tightlip.model.prior import Prior


def pml(channel: Channel, prior: Prior) -> PointwiseLeakage:
    """Compute the pointwise maximal leakage of each outcome, ℓ(y) = log max_x K_xy / q_y.

    Parameters
    ----------
    channel : Channel
    prior : Prior
        Secrets of mass 0 do not count. Labels are matched where both sides have them.

    Returns
    -------
    PointwiseLeakage
        In nats, rounded up; 0 ≤ ℓ(y) ≤ log 1/p_min.

    >>> from tightlip import Channel, Prior
    >>> leak = pml(Channel([["3/4", "1/4"], ["1/4", "3/4"]], outputs=["+", "-"]), Prior(["1/5", "4/5"]))
    >>> leak.ratios, leak.worst_outcome, leak.worst_secret
    ((Fraction(15, 7), Fraction(15, 13)), '+', 0)
    """
    return from_joint(join(channel, prior), "pml")


def pmc(channel: Channel, prior: Prior) -> PointwiseLeakage:
    """Compute the pointwise maximal cost of each outcome, log max_x q_y / K_xy; infinite where it excludes a secret.

    Parameters and result as for `pml`.

    >>> from tightlip import Channel, Prior
    >>> pmc(Channel([["3/4", "1/4"], ["1/4", "3/4"]]), Prior(["1/5", "4/5"])).ratios
    (Fraction(7, 5), Fraction(13, 5))
    >>> pmc(Channel([[1, 0], [0, 1]]), Prior.uniform(2)).worst
    inf nats
    """
    return from_joint(join(channel, prior), "pmc")


def guesswork_leakage(channel: Channel, prior: Prior) -> PointwiseLeakage:
    """Compute pointwise maximal guesswork leakage: equal to PMC for every outcome (PMC paper, section III-D).

    The largest ratio, over randomized functions U of the secret, of the expected number of guesses
    needed to find U before and after the outcome is seen.
    """
    return pmc(channel, prior)


def from_joint(joint: ExactJoint | FloatJoint, kind: Kind) -> PointwiseLeakage:
    """Compute the leakage of each outcome of an aligned channel and prior."""
    ratios = None
    if isinstance(joint, ExactJoint):
        found = [*joint.lifts()] if kind == "pml" else joint.costs()
        ratios = tuple(found)
        lower, upper = exact_ends(list(found))
    else:
        lower, upper = joint.log_lift_ends() if kind == "pml" else joint.log_cost_ends()
    return PointwiseLeakage(
        kind=kind,
        values=freeze(upper),
        lower=freeze(lower),
        probabilities=freeze(joint.probabilities()),
        outcomes=joint.outcomes,
        ratios=ratios,
        _joint=joint,
    )
