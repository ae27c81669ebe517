"""Say what a certificate proves, in one sentence for each kind and as JSON."""

from __future__ import annotations

import math
from collections.abc import Callable, Sized
from fractions import Fraction
from typing import Any

from tightlip.auditing import receipt
from tightlip.auditing.recount import Recount
from tightlip.certificate import envelope, ordered
from tightlip.certificate import recomputation as again
from tightlip.certificate.base import Claim
from tightlip.certificate.statistic import COST, MAXIMAL
from tightlip.contraction import certificate as contraction
from tightlip.designs.frequency import LEAST_VARIANCE
from tightlip.designs.utility import GREATEST_GAIN, LEAST_LOSS
from tightlip.errors import visible
from tightlip.model.labels import show
from tightlip.numeric.display import (
    format_about,
    format_down,
    format_exactly,
    format_sides,
    format_up,
    several,
)
from tightlip.numeric.parse import exact_text
from tightlip.numeric.rounding import up
from tightlip.protection import certificate as protection
from tightlip.report.amounts import a_or_an, delta_json, float_json, with_unit
from tightlip.robust import certificate as robust
from tightlip.robust import leakage_certificate as robust_leakage

_ADVERSARIES = {
    envelope.KIND: "any",
    ordered.KIND: "ordered",
    robust.KIND: "any",
    again.ENVELOPE_BOUNDS: "any",
    again.BINARY_ENVELOPE: "binary",
    again.DETERMINISTIC_ENVELOPE: "deterministic",
    again.K_ARY_ENVELOPE: "k-ary",
    again.REPEATED_ENVELOPE: "any",
    again.NOISE_ENVELOPE: "any",
    again.NOISE_DETERMINISTIC_ENVELOPE: "deterministic",
    again.NOISE_ORDERED_ENVELOPE: "ordered",
    again.NOISE_BINARY_ENVELOPE: "binary",
}


def claim_record(claim: Claim) -> dict[str, Any]:
    """Write the claim as JSON values: the kind, what it is about, both ends and their unit."""
    record: dict[str, Any] = {"kind": claim.kind}
    if claim.kind in _ADVERSARIES:
        record["adversary"] = _ADVERSARIES[claim.kind]
    if claim.symbols is not None:
        record["symbols"] = claim.symbols
    if claim.fewest is not None:
        record["min_count"] = claim.fewest
    if claim.fixed:
        record["drawn_columns"] = claim.fixed
    if claim.delta is not None:
        record |= delta_json(claim.delta)
    if claim.gamma is not None:
        record["gamma_exact"] = exact_text(claim.gamma)
    record |= {"lower": float_json(claim.lower), "upper": float_json(claim.upper)}
    if claim.prior is not None:
        record |= {"guarantees": list(claim.guarantees), "prior": claim.prior.to_dict()}
    if claim.secret is not None:
        record["about"] = claim.secret.to_dict()
    if claim.pml is not None:
        record["pml"] = dict(zip(("lower", "upper"), map(float_json, claim.pml), strict=True))
    return record if claim.unit is None else record | {"unit": claim.unit}


def claim_words(claim: Claim) -> str:
    """Say the claim in a sentence.

    >>> claim_words(Claim(MAXIMAL, 0.5, 0.6)).partition(", ")[0]
    'the statistic maximal leakage'
    """
    if claim.kind.endswith(_OF_A_MECHANISM):
        own = _SENTENCES.get(claim.kind, _greatest)(claim)
        return " ".join([own, *_pml_words(claim), *_prior_words(claim)])
    return _SENTENCES[claim.kind](claim)


def _envelope(whose: str, some: str = "", every: str = "") -> Callable[[Claim], str]:
    """δ is told from below where an attack has at least that probability, from above where none has it."""

    def sentence(claim: Claim) -> str:
        least = with_unit(format_down(claim.lower), "nats")
        most = with_unit(format_up(claim.upper), "nats")
        if not claim.delta:
            return f"no {whose} ever leaks more than {most}."
        below, above = format_sides(claim.delta)
        few = "" if claim.symbols is None else f" to at most {several(claim.symbols, 'symbol')}"
        reached = f"with probability at least {below} some {whose}{few} leaks "
        if math.isinf(claim.lower):
            return f"{reached}any amount{some}."
        return f"{reached}{least}{some}, and none leaks more than {most} with probability {above} or more{every}."

    return sentence


def _statistic(meaning: str) -> Callable[[Claim], str]:
    def sentence(claim: Claim) -> str:
        least, most = _ends(claim)
        return (
            f"the {claim.kind}, {meaning}, is at least {least} under some prior and at most {most} "
            "under every prior."
        )

    return sentence


def _between(what: str, how: str = "") -> Callable[[Claim], str]:
    def sentence(claim: Claim) -> str:
        least, most = _ends(claim)
        return f"{what} is at least {least} and at most {most}{how}."

    return sentence


def _computed_again(what: str) -> Callable[[Claim], str]:
    return _between(what, ", as computed again from the file")


def _ends(claim: Claim) -> tuple[str, str]:
    return with_unit(format_down(claim.lower), "nats"), with_unit(format_up(claim.upper), "nats")


def _detail(claim: Claim) -> str:
    kept, bound = format_down(100 * claim.lower, 4), format_up(100 * claim.upper, 4)
    groups = "" if claim.fewest is None else f"; at least {claim.fewest} people share every published value"
    fixed = several(claim.fixed, "column")
    true = f"true of every row, but for {fixed} published as drawn," if claim.fixed else "true of every row,"
    of_others = " of the others" if claim.fixed else ""
    return (
        f"the release is {true} meets its budget and keeps {kept} % of the detail{of_others}, and no truthful release "
        f"over these levels that meets it keeps more than {bound} %{groups}."
    )


def _receipt(claim: Claim) -> str:
    most = with_unit(format_up(claim.upper), "nats")
    check = (
        "with --table and the table that was released, it is"
        if claim.recountable
        else "files cannot show it here: tightlip audit of the table under the policy of the release works it out"
    )
    return (
        f"the files are as they were when the receipt was written, and it states that no published value leaks more "
        f"than {most}. That this is true was not checked; {check}."
    )


def recount_record(found: Recount) -> dict[str, Any]:
    """Write what was counted again as JSON values."""
    return {
        "rows": found.rows,
        "secret": list(found.secret),
        "released": list(found.released),
        "kept_without_guarantee": list(found.kept),
        "leakage": float_json(found.leakage),
        "names_of_groups": list(found.groups),
        "limits_on_single_values": found.single,
    }


def recount_words(found: Recount) -> str:
    """Say what was counted again, and what was not."""
    most = with_unit(format_up(found.leakage), "nats")
    words = (
        f"counted again beside the table: what is published in {', '.join(found.released)} is true of each of "
        f"{several(found.rows, 'row')}, keeps the limits of the receipt, and no value of it leaks more than {most} "
        f"about {' × '.join(found.secret)}."
    )
    if found.groups:
        words += f" Names of groups in {', '.join(found.groups)} are taken to mean who is in them."
    if found.single:
        words += " Limits on single values were not checked: the receipt does not name the values."
    if found.kept:
        words += f" No guarantee covers {', '.join(found.kept)}."
    return words


def _contraction(what: str) -> Callable[[Claim], str]:
    def sentence(claim: Claim) -> str:
        at = "" if claim.gamma is None else f" at γ = {format_exactly(claim.gamma)}"
        return f"{what}{at} is at least {format_down(claim.lower)} and at most {format_up(claim.upper)}."

    return sentence


def _many_uses(claim: Claim) -> str:
    least, most = format_down(claim.lower), with_unit(format_up(claim.upper), "nats")
    at = "" if claim.delta is None else f" at δ = {format_exactly(claim.delta)}"
    ends = (
        f"{least} and at most {most}" if math.isfinite(claim.lower) else "any number: no finite one will do"
    )
    return f"the ε of (ε, δ)-privacy of all uses together{at} is at least {ends}, as computed again from the file."


def _likely(what: str) -> Callable[[Claim], str]:
    def sentence(claim: Claim) -> str:
        least, most = format_down(claim.lower), format_up(claim.upper)
        return f"{what} is at least {least} and at most {most}, as computed again from the file."

    return sentence


def _least_loss(claim: Claim) -> str:
    return (
        f"the mechanism keeps {_kept(claim)} and loses at most {format_up(claim.upper)} on average, and none that "
        f"keeps {_it(claim)} loses less than {format_down(claim.lower)}."
    )


def _greatest_gain(claim: Claim) -> str:
    return (
        f"the mechanism keeps {_kept(claim)} and gains at least {format_down(claim.lower)} on average, and none that "
        f"keeps {_it(claim)} gains more than {format_up(claim.upper)}."
    )


def _greatest(claim: Claim) -> str:
    """Of mechanisms made for an information, whose name stands in the kind."""
    what = claim.kind.removeprefix(_GREATEST).removesuffix(_OF_A_MECHANISM)
    least, most = _ends(claim) if claim.unit else (format_down(claim.lower), format_up(claim.upper))
    return (
        f"the mechanism keeps {_kept(claim)} and has {a_or_an(what)} of at least {least}, and none that keeps "
        f"{_it(claim)} has more than {most}."
    )


def _least_variance(claim: Claim) -> str:
    return (
        f"the mechanism keeps {_kept(claim)}, and frequencies estimated from N of its outputs have a summed variance "
        f"of at most {format_up(claim.upper)}/N; under {_it(claim)} no estimates have less than "
        f"{format_down(claim.lower)}/N."
    )


def _kept(claim: Claim) -> str:
    return " and ".join(claim.guarantees) or "its guarantees"


def _it(claim: Claim) -> str:
    return "it" if len(claim.guarantees) == 1 else "them"


def _pml_words(claim: Claim) -> list[str]:
    """Say how much could be gained over PML of an envelope's level: what none can beat, less what PML reaches."""
    if claim.pml is None:
        return []
    small = claim.kind in (LEAST_LOSS, LEAST_VARIANCE)
    most = claim.pml[1] - claim.lower if small else claim.upper - claim.pml[0]
    shown = format_up(max(up(most), 0.0) if most else 0.0)
    gain = shown if claim.unit is None else with_unit(shown, claim.unit)
    return [
        f"Over a mechanism under PML of the same level, whose proof is in the file, at most {gain} can be gained."
    ]


def _prior_words(claim: Claim) -> list[str]:
    """Say which prior the proof is about."""
    if claim.prior is None:
        return []
    told = [
        f"{visible(show(label))}: {_mass(mass)}"
        for label, mass in zip(claim.prior.labels, claim.prior.exact().masses[:_MOST_MASSES], strict=False)
    ]
    noun = "secret" if claim.secret is None else "value"
    prior = ", ".join([*told, *_more(claim.prior, noun)])
    if claim.secret is None:
        return [f"All of this is about the prior {prior}."]
    values = [visible(show(label)) for label in claim.secret.inputs[:_MOST_MASSES]]
    secret = ", ".join([*values, *_more(claim.secret.inputs, "value")])
    return [
        f"All of this is about data of the prior {prior}, and about a secret ({secret}) with P(data | secret) as the "
        "file has it."
    ]


def _more(things: Sized, noun: str) -> list[str]:
    """Say how many are not named."""
    more = len(things) - _MOST_MASSES
    return [several(more, f"more {noun}")] if more > 0 else []


def _mass(mass: Fraction) -> str:
    text = exact_text(mass)
    return text if len(text) <= _SHORT else f"≈ {format_about(mass)}"


_MOST_MASSES, _SHORT = 8, 12  # of a prior in a sentence, and characters of a mass that is told exactly
_GREATEST, _OF_A_MECHANISM = "greatest ", " of a mechanism"
_DIVERGENCES = {contraction.CHI_SQUARED: "χ²", contraction.KL: "KL", contraction.HELLINGER: "Hellinger"}
_SENTENCES: dict[str, Callable[[Claim], str]] = {
    receipt.KIND: _receipt,
    LEAST_LOSS: _least_loss,
    GREATEST_GAIN: _greatest_gain,
    LEAST_VARIANCE: _least_variance,
    protection.KIND: _detail,
    envelope.KIND: _envelope("post-processing"),
    ordered.KIND: _envelope("monotone function of the outcome"),
    robust.KIND: _envelope("post-processing", " under some prior of the set", " under any prior of the set"),
    MAXIMAL: _statistic("how much easier the release makes it to guess the secret"),
    COST: _statistic("how much easier the release makes it to name a secret that is not the true one"),
    again.NOISE_PML: _computed_again("the PML of the noisy outcome"),
    again.NOISE_PMC: _computed_again("the PMC of the noisy outcome"),
    again.NOISE_DENSITY: _computed_again("the information density of the secret and the noisy outcome"),
    again.NOISE_INTERVAL: _computed_again("the leakage of the interval of noisy outcomes"),
    again.NOISE_WORST_PMC: _computed_again("the largest PMC of any noisy outcome"),
    again.POSTERIOR_MEAN: _computed_again("the mean of the secret given the noisy outcome"),
    again.POSTERIOR_VARIANCE: _computed_again("the variance of the secret given the noisy outcome"),
    again.WORST_POSTERIOR_VARIANCE: _computed_again(
        "the largest variance of the secret given a noisy outcome, over that of the noise,"
    ),
    again.LAPLACE_MEAN: _computed_again("the largest PMC of one value behind a mean with Laplace noise"),
    again.GAUSSIAN_BOUNDS: _computed_again(
        "the PMC of the outcome of Gaussian noise on a bounded secret of mean zero"
    ),
    again.CUMULANT: _computed_again("the cumulant generating function of the data"),
    again.NOISE_STATISTIC: _computed_again("the statistic maximal leakage of the noise about the regions"),
    again.STATISTIC_RANGE: _computed_again(
        "the statistic maximal leakage, by what maximal leakage says of it,"
    ),
    again.SPACE_SIZE: _computed_again("the logarithm of the number of histograms"),
    again.ENVELOPE_BOUNDS: _envelope("post-processing"),
    again.BINARY_ENVELOPE: _envelope("event"),
    again.DETERMINISTIC_ENVELOPE: _envelope("function of the outcome"),
    again.K_ARY_ENVELOPE: _envelope("post-processing"),
    again.REPEATED_EPSILON: _many_uses,
    again.REPEATED_DELTA: _likely("the δ of (ε, δ)-privacy of all uses together, at the ε of the file,"),
    again.REPEATED_ENVELOPE: _envelope("post-processing of all outcomes"),
    again.REPEATED_FAILURE: _likely(
        "the largest probability with which some post-processing of all outcomes leaks more than the ε of the file"
    ),
    again.REPEATED_LEAKAGE: _computed_again("the maximal leakage of all uses together"),
    again.NOISE_ENVELOPE: _envelope("post-processing of the noisy value"),
    again.NOISE_DETERMINISTIC_ENVELOPE: _envelope("function of the noisy value"),
    again.NOISE_ORDERED_ENVELOPE: _envelope("monotone function of the noisy value"),
    again.NOISE_BINARY_ENVELOPE: _envelope("event of the noisy value"),
    again.TOTAL_VARIATION: _computed_again("the total variation distance of the two distributions"),
    again.KL_DIVERGENCE: _computed_again("the Kullback-Leibler divergence of the two distributions"),
    again.CHI_SQUARED_DIVERGENCE: _computed_again("the χ² divergence of the two distributions"),
    again.RENYI_DIVERGENCE: _computed_again("the Rényi divergence of order ∞ of the two distributions"),
    again.HELLINGER_DISTANCE: _computed_again("the squared Hellinger distance of the two distributions"),
    **{
        kind: _computed_again(f"the statistic maximal leakage ({kind})")
        for kind in (
            again.QUANTIZATION_PRIVACY,
            again.UNLISTED_PRIVACY,
            again.RESPONSE_PRIVACY,
            again.MAXL_PRIVACY,
            again.MAXL_BINS_PRIVACY,
            again.WRONG_RESPONSE_PRIVACY,
            again.WRONG_QUANTIZATION_PRIVACY,
        )
    },
    **{
        kind: _computed_again(f"the worst-case expected total variation distance ({kind})")
        for kind in (
            again.QUANTIZATION_DISTORTION,
            again.SHARE_DISTORTION,
            again.RATIO_DISTORTION,
            again.RESPONSE_DISTORTION,
            again.MATCHED_DISTORTION,
            again.MAXL_DISTORTION,
            again.WRONG_RESPONSE_DISTORTION,
            again.WRONG_QUANTIZATION_DISTORTION,
        )
    },
    robust_leakage.PML: _between(
        "the leakage capacity, the largest PML of any outcome under any prior of the set"
    ),
    robust_leakage.PMC: _between("the largest PMC of any outcome under any prior of the set"),
    robust_leakage.MAXIMAL: _between("the largest maximal leakage under any prior of the set"),
    contraction.DOBRUSHIN: _contraction("the Dobrushin coefficient, the contraction of total variation,"),
    contraction.E_GAMMA: _contraction("the contraction coefficient of E_γ"),
    **{
        kind: _contraction(f"the contraction coefficient of {name} over all inputs")
        for kind, name in _DIVERGENCES.items()
    },
    **{
        kind + contraction.TOWARDS: _contraction(f"the contraction coefficient of {name} towards the prior")
        for kind, name in _DIVERGENCES.items()
    },
}
