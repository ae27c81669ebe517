"""--secret and --noise: one noisy real value, written on the command line."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from tightlip.cli.output import progress
from tightlip.envelopes.result import Adversary
from tightlip.errors import InvalidInput, PreconditionFailed, quoted
from tightlip.model.noise import AdditiveNoise, Gaussian, Laplace
from tightlip.model.secret import BoundedSecret, DiscreteSecret, GaussianSecret, UniformSecret
from tightlip.numeric.unit import Unit

_IN_PYTHON = {  # what messages advise, and how it is written here
    "DiscreteSecret([x], [1])": "discrete:X=1",
    'adversary="any"': "--adversary any",
    "BoundedSecret has": "--secret bounded:LOW,HIGH has",
}


def _discrete(*atoms: str) -> DiscreteSecret:
    pairs: list[tuple[Any, str, Any]] = [atom.partition("=") for atom in atoms]
    return DiscreteSecret([point for point, _, _ in pairs], [mass for _, _, mass in pairs])


Kind = tuple[str, range, Callable[..., Any]]

_SECRETS: dict[str, Kind] = {
    "gaussian": ("gaussian:SIGMA[,MEAN]", range(1, 3), GaussianSecret),
    "uniform": ("uniform:LOW,HIGH", range(2, 3), UniformSecret),
    "bounded": ("bounded:LOW,HIGH", range(2, 3), BoundedSecret),
    "discrete": ("discrete:X=P,X=P,…", range(1, 1_000_000), _discrete),
}
_NOISES: dict[str, Kind] = {
    "gaussian": ("gaussian:SIGMA", range(1, 2), Gaussian),
    "laplace": ("laplace:SCALE", range(1, 2), Laplace),
}
SECRET_FORMS = ", ".join(form for form, _, _ in _SECRETS.values())
NOISE_FORMS = ", ".join(form for form, _, _ in _NOISES.values())


def read_release(secret: str, noise: str) -> AdditiveNoise:
    """The release that two texts describe; all numbers are exact.

    >>> read_release("uniform:0,1/3", "laplace:0.5")
    AdditiveNoise(secret=UniformSecret(low=0.0, high=Fraction(1, 3)), noise=Laplace(scale=0.5))
    """
    return AdditiveNoise(_read(secret, "--secret", _SECRETS), _read(noise, "--noise", _NOISES))


def envelope_of_noise(
    secret: str, noise: str, deltas: list[Fraction], adversary: Adversary, *, unit: Unit, compare: bool
) -> tuple[dict[str, Any], list[Any]]:
    """The record of the envelope, and its points."""
    from tightlip.noise.compared import comparisons, endless_attack
    from tightlip.noise.dispatch import envelope as noise_envelope
    from tightlip.report.envelope import envelope_record, noise_attack_words

    release = read_release(secret, noise)
    steps = (noise_envelope(release, delta, adversary=adversary) for delta in deltas)
    try:
        found = progress(steps, len(deltas), "envelope")
    except PreconditionFailed as error:
        raise InvalidInput(_as_options(error)) from error
    endless = [endless_attack(release, point.delta) if math.isinf(point.upper) else None for point in found]
    attacks = [noise_attack_words(point, attack, unit) for point, attack in zip(found, endless, strict=True)]
    compared = [comparisons(release, delta, adversary=adversary) for delta in deltas] if compare else None
    record = envelope_record(found, attacks, compared, unit=unit)
    return {"secret": secret, "noise": noise, **record}, found


def _read(text: str, option: str, kinds: dict[str, Kind]) -> Any:
    name, _, rest = text.strip().partition(":")
    if name.strip().lower() not in kinds:
        forms = ", ".join(form for form, _, _ in kinds.values())
        raise InvalidInput(f"{option} must be one of {forms}, got {quoted(text)}.")
    form, counts, make = kinds[name.strip().lower()]
    parts = [part.strip() for part in rest.split(",")] if rest.strip() else []
    if len(parts) not in counts:
        raise InvalidInput(f"{option} must be written {form}, got {quoted(text)}.")
    try:
        return make(*parts)
    except InvalidInput as error:
        raise InvalidInput(f"{option} {quoted(text)}: {_as_options(error)}") from error


def _as_options(error: InvalidInput) -> str:
    message = str(error)
    for python, option in _IN_PYTHON.items():
        message = message.replace(python, option)
    return message
