"""Numbers in closed form and in ball arithmetic: the proof is the computation, which the certificate does again.

It names one of a few functions and holds its arguments; `verify` calls the function and checks that what it proves lies
within the ends that are stated. No solver has a part in these functions.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from importlib import import_module
from numbers import Integral
from operator import attrgetter
from typing import Any, ClassVar, TypeVar, cast

from tightlip.certificate.base import Certificate, Claim, kind_digest
from tightlip.errors import CertificateInvalid, InvalidInput, TightlipError, quoted
from tightlip.model.channel import Channel
from tightlip.model.jsonio import check_keys
from tightlip.model.labels import Label, Labels, labels_from_json
from tightlip.model.noise import AdditiveNoise, Gaussian, Laplace
from tightlip.model.prior import Prior
from tightlip.model.secret import BoundedSecret, DiscreteSecret, GaussianSecret, UniformSecret
from tightlip.numeric.parse import exact_text, number
from tightlip.numeric.proved import Proved

NOISE_PML = "PML of noise"
NOISE_PMC = "PMC of noise"
NOISE_DENSITY = "information density of noise"
NOISE_INTERVAL = "interval leakage of noise"
NOISE_WORST_PMC = "worst PMC of noise"
LAPLACE_MEAN = "PMC of a mean with Laplace noise"
GAUSSIAN_BOUNDS = "PMC bounds of Gaussian noise"
CUMULANT = "cumulant"
NOISE_STATISTIC = "statistic maximal leakage of noise"
STATISTIC_RANGE = "range of the statistic maximal leakage"
SPACE_SIZE = "size of a space of histograms"

# the only functions that a file can have called, by kind: a namespace and a name in it
_FUNCTIONS = {
    NOISE_PML: ("tightlip.noise", "pml"),
    NOISE_PMC: ("tightlip.noise", "pmc"),
    NOISE_DENSITY: ("tightlip.noise", "information_density"),
    NOISE_INTERVAL: ("tightlip.noise", "interval_leakage"),
    NOISE_WORST_PMC: ("tightlip.noise", "pmc_supremum"),
    LAPLACE_MEAN: ("tightlip.noise", "laplace_mean_pmc"),
    GAUSSIAN_BOUNDS: ("tightlip.noise", "gaussian_pmc_bounds"),
    CUMULANT: ("tightlip.noise", "cumulant"),
    NOISE_STATISTIC: ("tightlip.statistic", "noise_leakage"),
    STATISTIC_RANGE: ("tightlip.papers", "statistic_leakage_range"),
    SPACE_SIZE: ("tightlip.histogram", "HistogramSpace.size_log"),
}
# what can be an argument in a file, besides numbers, texts, lists and mappings
_TYPES: dict[str, type[Any]] = {
    known.__name__: known
    for known in (
        AdditiveNoise,
        Gaussian,
        Laplace,
        GaussianSecret,
        UniformSecret,
        BoundedSecret,
        DiscreteSecret,
    )
}
_MAPPING, _CHANNEL = "mapping", "Channel"

Found = TypeVar("Found", bound=Proved)


@dataclass(frozen=True, slots=True)
class Recomputation(Certificate):
    """Both ends of a number that a function in ball arithmetic finds, proved by calling it again.

    Attributes
    ----------
    kind : the number
    arguments : of the function that computes it, by name
    lower, upper : the ends, in nats

    A result from a scipy distribution can be verified where it was made, but not saved: files hold no distributions.
    """

    FORMAT: ClassVar[str] = "tightlip recomputation certificate 2"
    KINDS: ClassVar[tuple[str, ...]] = tuple(_FUNCTIONS)
    KEYS: ClassVar[frozenset[str]] = frozenset({"arguments", "lower", "upper"})
    ABOUT: ClassVar[str] = "arguments"

    kind: str
    arguments: Mapping[str, Any]
    lower: float
    upper: float

    def claim(self) -> Claim:
        """Tell both ends in nats."""
        return Claim(self.kind, self.lower, self.upper)

    def verify(self) -> None:
        """Compute the number again, and check that its ends lie within these."""
        home, name = _FUNCTIONS[self.kind]
        function = attrgetter(name)(import_module(home))
        try:
            found = function(**self.arguments)
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

    def digest_for(self, channel: Channel, prior: Prior | None, secret: Sequence[Label] | None) -> None:
        """None: it is not about a channel file."""

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
    if isinstance(value, Channel):
        return {"type": _CHANNEL, "channel": value.to_dict()}
    if type(value) in _TYPES.values():
        fields = {field.name: _write(getattr(value, field.name)) for field in dataclasses.fields(value)}
        return {"type": type(value).__name__, **fields}
    raise InvalidInput(
        f"this result cannot be saved: a file holds no {type(value).__name__}; its verify() computes it again here."
    )


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
    if name not in _TYPES:
        raise InvalidInput(f"an argument must be one of {', '.join(_TYPES)}, got {quoted(name)}")
    own = _TYPES[name]
    check_keys(value, name, {"type", *(field.name for field in dataclasses.fields(own))}, set())
    return own(**{field.name: _read(value[field.name]) for field in dataclasses.fields(own)})


def _read_end(value: Any, name: str) -> float:
    return float(_read(value)) if value in ("inf", "-inf") else float(number(value, name))
