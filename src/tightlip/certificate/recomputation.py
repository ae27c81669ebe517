"""Numbers in closed form and in ball arithmetic: the proof is the computation, which the certificate does again.

It names one of a few functions and holds its arguments; `verify` calls the function and checks that what it proves lies
within the ends that are stated. Of two kinds, k-ary envelopes and envelopes of bounded secrets with noise, a solver
proposes attacks and multipliers, which the function proves before it returns.
"""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from importlib import import_module
from numbers import Integral
from operator import attrgetter
from typing import Any, ClassVar, Literal, TypeVar, cast

import numpy as np

from tightlip.certificate.base import Certificate, Claim, kind_digest
from tightlip.errors import CertificateInvalid, InvalidInput, TightlipError, quoted
from tightlip.model.channel import Channel, align
from tightlip.model.jsonio import check_keys
from tightlip.model.labels import Label, Labels, labels_from_json
from tightlip.model.prior import Prior
from tightlip.numeric.display import format_exactly
from tightlip.numeric.parse import exact_text, number
from tightlip.numeric.proved import Proved

NOISE_PML = "PML of noise"
NOISE_PMC = "PMC of noise"
NOISE_DENSITY = "information density of noise"
NOISE_INTERVAL = "interval leakage of noise"
NOISE_WORST_PMC = "worst PMC of noise"
POSTERIOR_MEAN = "posterior mean of noise"
POSTERIOR_VARIANCE = "posterior variance of noise"
WORST_POSTERIOR_VARIANCE = "largest posterior variance of noise"
LAPLACE_MEAN = "PMC of a mean with Laplace noise"
GAUSSIAN_BOUNDS = "PMC bounds of Gaussian noise"
CUMULANT = "cumulant"
NOISE_STATISTIC = "statistic maximal leakage of noise"
STATISTIC_RANGE = "range of the statistic maximal leakage"
SPACE_SIZE = "size of a space of histograms"
TOTAL_VARIATION = "total variation distance"
KL_DIVERGENCE = "Kullback-Leibler divergence"
CHI_SQUARED_DIVERGENCE = "chi-squared divergence"
HELLINGER_DISTANCE = "squared Hellinger distance"
RENYI_DIVERGENCE = "Rényi divergence of order infinity"
ENVELOPE_BOUNDS = "envelope between known bounds"
BINARY_ENVELOPE = "binary envelope"
DETERMINISTIC_ENVELOPE = "deterministic envelope"
K_ARY_ENVELOPE = "k-ary envelope"
REPEATED_EPSILON = "ε of (ε, δ)-privacy of repeated uses"
REPEATED_DELTA = "δ of (ε, δ)-privacy of repeated uses"
REPEATED_ENVELOPE = "envelope of repeated uses"
REPEATED_FAILURE = "failure probability of repeated uses"
REPEATED_LEAKAGE = "maximal leakage of repeated uses"
NOISE_ENVELOPE = "envelope of noise"
NOISE_DETERMINISTIC_ENVELOPE = "deterministic envelope of noise"
NOISE_ORDERED_ENVELOPE = "ordered envelope of noise"
NOISE_BINARY_ENVELOPE = "binary envelope of noise"
QUANTIZATION_PRIVACY = "privacy of quantization"
QUANTIZATION_DISTORTION = "distortion of quantization"
SHARE_DISTORTION = "distortion of quantization of the share of several cells"
RATIO_DISTORTION = "distortion of quantization of a ratio or a difference"
UNLISTED_PRIVACY = "privacy of quantization with unlisted combinations"
RESPONSE_PRIVACY = "privacy of randomised response on histograms"
RESPONSE_DISTORTION = "distortion of randomised response on histograms"
MATCHED_DISTORTION = "distortion of randomised response at the privacy of quantization"
MAXL_PRIVACY = "privacy of MaxL"
MAXL_BINS_PRIVACY = "privacy of MaxL with one histogram from each bin"
MAXL_DISTORTION = "distortion of MaxL"
WRONG_RESPONSE_PRIVACY = "privacy of randomised response on a mis-specified support"
WRONG_RESPONSE_DISTORTION = "distortion of randomised response on a mis-specified support"
WRONG_QUANTIZATION_PRIVACY = "privacy of quantization on a mis-specified support"
WRONG_QUANTIZATION_DISTORTION = "distortion of quantization on a mis-specified support"


@dataclass(frozen=True, slots=True)
class _Function:
    """A function that a file can have called.

    Attributes
    ----------
    home, name : a namespace and a name in it
    part : the attribute of what it returns that is the number; all of it where there is none
    unit : of the number
    fixed : arguments that the kind decides, so that a file cannot
    """

    home: str
    name: str
    part: str | None = None
    unit: Literal["nats"] | None = "nats"
    fixed: Mapping[str, str] = field(default_factory=dict)

    def __call__(self, arguments: Mapping[str, Any]) -> Proved:
        found = attrgetter(self.name)(import_module(self.home))(**arguments, **self.fixed)
        return cast(Proved, found if self.part is None else getattr(found, self.part))


def _divergence(name: str, unit: Literal["nats"] | None = None) -> _Function:
    return _Function("tightlip.contraction", "divergence", unit=unit, fixed={"kind": name})


def _envelope(home: str, adversary: str) -> _Function:
    return _Function(home, "envelope", fixed={"adversary": adversary})


_ENVELOPES, _NOISE = "tightlip.envelopes", "tightlip.noise"
_HISTOGRAM, _PAPERS = "tightlip.histogram", "tightlip.papers"
_REPEATED = "tightlip.envelopes.repetition"
# the only functions that a file can have called, by kind
_FUNCTIONS = {
    NOISE_PML: _Function(_NOISE, "pml"),
    NOISE_PMC: _Function(_NOISE, "pmc"),
    NOISE_DENSITY: _Function(_NOISE, "information_density"),
    NOISE_INTERVAL: _Function(_NOISE, "interval_leakage"),
    NOISE_WORST_PMC: _Function(_NOISE, "pmc_supremum"),
    POSTERIOR_MEAN: _Function(_NOISE, "posterior_moments", "mean", None),
    POSTERIOR_VARIANCE: _Function(_NOISE, "posterior_moments", "variance", None),
    WORST_POSTERIOR_VARIANCE: _Function(_NOISE, "posterior_variance_bound", unit=None),
    LAPLACE_MEAN: _Function(_NOISE, "laplace_mean_pmc"),
    GAUSSIAN_BOUNDS: _Function(_NOISE, "gaussian_pmc_bounds"),
    CUMULANT: _Function(_NOISE, "cumulant"),
    NOISE_STATISTIC: _Function("tightlip.statistic", "noise_leakage"),
    STATISTIC_RANGE: _Function(_PAPERS, "statistic_leakage_range"),
    SPACE_SIZE: _Function(_HISTOGRAM, "HistogramSpace.size_log"),
    TOTAL_VARIATION: _divergence("tv"),
    KL_DIVERGENCE: _divergence("kl", "nats"),
    CHI_SQUARED_DIVERGENCE: _divergence("chi2"),
    HELLINGER_DISTANCE: _divergence("h2"),
    RENYI_DIVERGENCE: _divergence("renyi_inf", "nats"),
    ENVELOPE_BOUNDS: _Function(_ENVELOPES, "bounds"),
    BINARY_ENVELOPE: _envelope(_ENVELOPES, "binary"),
    DETERMINISTIC_ENVELOPE: _envelope(_ENVELOPES, "deterministic"),
    K_ARY_ENVELOPE: _envelope(_ENVELOPES, "k-ary"),
    NOISE_ENVELOPE: _envelope(_NOISE, "any"),
    NOISE_DETERMINISTIC_ENVELOPE: _envelope(_NOISE, "deterministic"),
    NOISE_ORDERED_ENVELOPE: _envelope(_NOISE, "ordered"),
    NOISE_BINARY_ENVELOPE: _envelope(_NOISE, "binary"),
    REPEATED_EPSILON: _Function(_REPEATED, "repeated_epsilon"),
    REPEATED_DELTA: _Function(_REPEATED, "repeated_delta", unit=None),
    REPEATED_ENVELOPE: _Function(_REPEATED, "repeated_envelope"),
    REPEATED_FAILURE: _Function(_REPEATED, "repeated_failure", unit=None),
    REPEATED_LEAKAGE: _Function(_REPEATED, "repeated_leakage"),
    QUANTIZATION_PRIVACY: _Function(_HISTOGRAM, "Quantization", "privacy"),
    QUANTIZATION_DISTORTION: _Function(_HISTOGRAM, "Quantization", "distortion", None),
    SHARE_DISTORTION: _Function("tightlip.histogram.share_distortion", "share_distortion", unit=None),
    RATIO_DISTORTION: _Function("tightlip.histogram.ratio_distortion", "ratio_distortion", unit=None),
    UNLISTED_PRIVACY: _Function("tightlip.histogram.support", "unlisted_privacy"),
    RESPONSE_PRIVACY: _Function(_HISTOGRAM, "RandomizedResponse", "privacy"),
    RESPONSE_DISTORTION: _Function(_HISTOGRAM, "RandomizedResponse", "distortion", None),
    MATCHED_DISTORTION: _Function(_PAPERS, "compare", "response", None),
    MAXL_PRIVACY: _Function(_HISTOGRAM, "MaxLMechanism", "privacy"),
    MAXL_BINS_PRIVACY: _Function("tightlip.histogram.maxl", "privacy_of_bins"),
    MAXL_DISTORTION: _Function(_HISTOGRAM, "MaxLMechanism", "distortion", None),
    WRONG_RESPONSE_PRIVACY: _Function(_PAPERS, "misspecified_response_privacy"),
    WRONG_RESPONSE_DISTORTION: _Function(_PAPERS, "misspecified_response_distortion", unit=None),
    WRONG_QUANTIZATION_PRIVACY: _Function(_PAPERS, "misspecified_quantization_privacy"),
    WRONG_QUANTIZATION_DISTORTION: _Function(_PAPERS, "misspecified_quantization_distortion", unit=None),
}
# what can be an argument in a file, by the namespace of its type, besides numbers, texts, lists, mappings and models
_TYPES = {
    "AdditiveNoise": _NOISE,
    "Gaussian": _NOISE,
    "Laplace": _NOISE,
    "GaussianSecret": _NOISE,
    "GaussianMixture": _NOISE,
    "UniformSecret": _NOISE,
    "BoundedSecret": _NOISE,
    "DiscreteSecret": _NOISE,
    "HistogramSpace": _HISTOGRAM,
    "MisspecifiedSupport": _PAPERS,
}
_MAPPING, _CHANNEL, _PRIOR = "mapping", "Channel", "Prior"

Found = TypeVar("Found", bound=Proved)


@dataclass(frozen=True, slots=True)
class Recomputation(Certificate):
    """Both ends of a number that a function in ball arithmetic finds, proved by calling it again.

    Attributes
    ----------
    kind : the number
    arguments : of the function that computes it, by name
    lower, upper : the ends, in nats where the number is a leakage

    A result from a scipy distribution can be verified where it was made, but not saved: files hold no distributions.
    """

    FORMAT: ClassVar[str] = "tightlip recomputation certificate 2"
    KINDS: ClassVar[tuple[str, ...]] = tuple(_FUNCTIONS)
    KEYS: ClassVar[frozenset[str]] = frozenset({"arguments", "lower", "upper"})
    ABOUT: ClassVar[str] = "arguments"

    kind: str
    arguments: dict[str, Any]
    lower: float
    upper: float

    def claim(self) -> Claim:
        """Tell both ends, and δ and the number of symbols where the number is an envelope."""
        delta, symbols = self.arguments.get("delta"), self.arguments.get("symbols")
        return Claim(
            self.kind,
            self.lower,
            self.upper,
            _FUNCTIONS[self.kind].unit,
            delta=None if delta is None else Fraction(number(delta, "delta")),
            symbols=symbols,
        )

    def ends_at(self, delta: Fraction) -> tuple[float, float]:
        """Tell both ends of an envelope at δ, which must be its own.

        Raises
        ------
        CertificateInvalid
            If it is about another probability.
        """
        if self.claim().delta != delta:
            raise CertificateInvalid(f"the certificate proves no end at δ = {format_exactly(delta)}.")
        return self.lower, self.upper

    def verify(self) -> None:
        """Compute the number again, and check that its ends lie within these."""
        try:
            found = _FUNCTIONS[self.kind](self.arguments)
        except (TightlipError, TypeError, ArithmeticError) as error:
            raise CertificateInvalid(f"both ends fail: the number cannot be computed: {error}") from error
        if not (self.lower <= found.lower and found.upper <= self.upper):
            raise CertificateInvalid(
                f"both ends fail: the number is proved to lie in {found.lower!r} to {found.upper!r}, "
                f"not in {self.lower!r} to {self.upper!r}."
            )

    def digest(self) -> str:
        """Hash the kind and the arguments."""
        return kind_digest(self.kind, {"arguments": _write(self.arguments)})

    @property
    def needs_prior(self) -> bool:
        """Whether the number is of a channel and a prior."""
        return {"channel", "prior"} <= self.arguments.keys()

    def digest_for(self, channel: Channel, prior: Prior | None, secret: Sequence[Label] | None) -> str | None:
        """Hash it for another channel and prior; None where it is not about a channel file."""
        if not self.needs_prior or prior is None:
            return None
        other = self.arguments | {"channel": channel, "prior": align(prior, channel)}
        return replace(self, arguments=other).digest()

    def parts(self) -> dict[str, Any]:
        """Write the arguments and both ends as JSON values.

        Raises
        ------
        InvalidInput
            When an argument cannot be written, as a scipy distribution.
        """
        return {
            "arguments": _write(self.arguments),
            "lower": _number(self.lower),
            "upper": _number(self.upper),
        }

    @classmethod
    def from_parts(cls, record: dict[str, Any]) -> Recomputation:
        """Read what `parts` wrote."""
        arguments = _read(record["arguments"])
        if not isinstance(arguments, dict) or not all(isinstance(name, str) for name in arguments):
            raise ValueError("the arguments must be a mapping from names")
        return cls(record["kind"], arguments, *(_read_end(record[end], end) for end in ("lower", "upper")))


def certify_by_recomputation(kind: str, found: Found, **arguments: Any) -> Found:
    """Give a result a certificate that calls its function with these arguments again."""
    proof = Recomputation(kind, arguments, found.lower, found.upper)
    own: Any = found
    if not isinstance(own, float):
        return cast(Found, dataclasses.replace(own, certificate=proof))
    own.certificate = proof  # type: ignore[attr-defined]
    return cast(Found, own)


def _write(value: Any) -> Any:
    """Write an argument as JSON values."""
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, Integral):
        return int(value)
    if isinstance(value, (float, Fraction)):
        return _number(value)
    if isinstance(value, Mapping):
        labels = Labels.of(list(value), len(value), "labels")
        return {
            "type": _MAPPING,
            "labels": list(map(_label, labels)),
            "values": [_write(each) for each in value.values()],
        }
    if isinstance(value, (tuple, list)):
        if any(isinstance(each, Fraction) for each in value):  # beside a float it would be read as one
            value = [Fraction(each) if isinstance(each, float) else each for each in value]
        return [_write(each) for each in value]
    if isinstance(value, np.ndarray):
        return _write(value.tolist())
    if isinstance(value, Channel):
        return {"type": _CHANNEL, "channel": value.to_dict()}
    if isinstance(value, Prior):
        return {"type": _PRIOR, "prior": value.to_dict()}
    name = type(value).__name__
    if name in _TYPES and type(value) is _type(name):
        return {
            "type": name,
            **{own.name: _write(getattr(value, own.name)) for own in dataclasses.fields(value)},
        }
    raise InvalidInput(
        f"this result cannot be saved: a file holds no {name}; its verify() computes it again here."
    )


def _type(name: str) -> type[Any]:
    return cast(type[Any], getattr(import_module(_TYPES[name]), name))


def _label(label: Label) -> Any:
    return [_label(part) for part in label] if isinstance(label, tuple) else label


def _number(value: float | Fraction) -> float | str:
    if isinstance(value, Fraction):
        return exact_text(value)
    return float(value) if math.isfinite(value) else repr(float(value))


def _read(value: Any) -> Any:
    """Read what `_write` wrote."""
    if isinstance(value, list):
        return [_read(each) for each in value]
    if not isinstance(value, dict):
        return {"inf": math.inf, "-inf": -math.inf}.get(value, value) if isinstance(value, str) else value
    name = value.get("type")
    if name == _MAPPING:
        check_keys(value, _MAPPING, {"type", "labels", "values"}, set())
        labels = labels_from_json(value["labels"], "labels") or []
        return dict(zip(labels, [_read(each) for each in value["values"]], strict=True))
    if name == _CHANNEL:
        return Channel.from_dict(check_keys(value, _CHANNEL, {"type", "channel"}, set())["channel"])
    if name == _PRIOR:
        return Prior.from_json(json.dumps(check_keys(value, _PRIOR, {"type", "prior"}, set())["prior"]))
    if not isinstance(name, str) or name not in _TYPES:
        raise InvalidInput(f"an argument must be one of {', '.join(_TYPES)}, got {quoted(name)}")
    own = _type(name)
    check_keys(value, name, {"type", *(each.name for each in dataclasses.fields(own))}, set())
    return own(**{each.name: _read(value[each.name]) for each in dataclasses.fields(own)})


def _read_end(value: Any, name: str) -> float:
    return float(_read(value)) if value in ("inf", "-inf") else float(number(value, name))
