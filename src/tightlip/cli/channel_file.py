"""CHANNEL.json: a prior, a channel, names, and perhaps which secret each row belongs to."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from tightlip.errors import InvalidInput, ShapeMismatch, quoted
from tightlip.model.channel import Channel
from tightlip.model.jsonio import as_object
from tightlip.model.labels import label_from_json, labels_from_json
from tightlip.model.prior import Prior
from tightlip.numeric.parse import number

_LARGEST = 1 << 30
_KEYS = {"channel", "counts", "prior", "inputs", "outputs", "secret", "labels", "sparse", "adjustment"}


@dataclass(frozen=True, slots=True)
class ChannelFile:
    """What a channel file holds; `prior` and `secret` are None where the file has none."""

    channel: Channel
    prior: Prior | None
    secret: tuple[Any, ...] | None

    def require_prior(self, path: Path) -> Prior:
        """The prior, or an error that says how to add one."""
        if self.prior is None:
            raise InvalidInput(
                f'{path} must have the key "prior" for this command, got none; '
                'add "prior": [..] or, if every secret is equally likely, "prior": "uniform".'
            )
        return self.prior


def read_channel_file(path: Path) -> ChannelFile:
    """Read and check a channel file."""
    record = as_object(read_text(path), str(path), set(), _KEYS)
    if ("channel" in record) == ("counts" in record):
        raise InvalidInput(
            f'{path} must have the key "channel" or "counts", and not both, got {sorted(record)}.'
        )
    if "counts" in record:
        return _from_counts(record)
    prior = record.get("prior")
    if record.get("inputs") is None and isinstance(prior, dict):
        record = {**record, "inputs": list(prior)}
    channel = Channel.from_dict(
        {key: record[key] for key in record if key not in {"prior", "secret", "labels"}}
    )
    return ChannelFile(
        channel, _prior(prior, record.get("labels"), channel), _secret(record.get("secret"), channel)
    )


def _from_counts(record: dict[str, Any]) -> ChannelFile:
    """A table of counts, rows secrets and columns outcomes, gives both the channel and the prior, exactly."""
    if "prior" in record:
        raise InvalidInput('"prior" must not be given with "counts", got both; the row totals are the prior.')
    inputs, outputs = (labels_from_json(record.get(side), side) for side in ("inputs", "outputs"))
    channel = Channel.from_counts(record["counts"], inputs, outputs, exact=True)
    totals = [sum(Fraction(number(entry, "counts")) for entry in row) for row in record["counts"]]
    prior = Prior.from_counts(totals, channel.inputs if channel.inputs.given else None, exact=True)
    return ChannelFile(channel, prior, _secret(record.get("secret"), channel))


def read_text(path: Path) -> str:
    """The text of a file, or one clear line about why not."""
    try:
        if str(path) == "-":
            return sys.stdin.read()
        if path.stat().st_size > _LARGEST:
            raise InvalidInput(f"{path} must be smaller than 1 GiB, got {path.stat().st_size} bytes.")
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        place = f"byte {error.object[error.start]:#x} at position {error.start}"
        raise InvalidInput(f"{path} must be UTF-8 text, got {place}; save it as UTF-8.") from error
    except OSError as error:
        raise InvalidInput(f"{path} cannot be read: {error.strerror or error}; check the path.") from error


def _prior(prior: Any, labels: Any, channel: Channel) -> Prior | None:
    if prior is None:
        return None
    if isinstance(prior, str):
        if prior != "uniform":
            raise InvalidInput(f'prior must be a list, an object or "uniform", got {quoted(prior)}.')
        uniform = Prior.uniform(channel.shape[0])
        return Prior(uniform.masses, channel.inputs)
    given = labels_from_json(labels, "labels")
    if isinstance(prior, dict) and given is not None:
        raise InvalidInput(
            '"labels" must not be given for a prior with names of its own, got both; drop one.'
        )
    if isinstance(prior, dict) and channel.inputs.given:
        return Prior(list(prior.values()), _keys_as_labels(prior, channel))
    if isinstance(prior, list) and labels is None and len(prior) != channel.shape[0]:
        raise ShapeMismatch(
            f"prior must have one mass for each of {channel.shape[0]} channel rows, got {len(prior)}."
        )
    return Prior(prior, channel.inputs if given is None else given)


def _keys_as_labels(prior: dict[str, Any], channel: Channel) -> list[Any]:
    """JSON keys are text; a secret named 1 in "inputs" is the key "1" here."""
    by_text = {str(label): label for label in channel.inputs}
    return [by_text.get(key, key) for key in prior]


def _secret(secret: Any, channel: Channel) -> tuple[Any, ...] | None:
    if secret is None:
        return None
    if not isinstance(secret, list) or len(secret) != channel.shape[0]:
        raise ShapeMismatch(
            f"secret must be a list with one label for each of {channel.shape[0]} channel rows, got {quoted(secret)}."
        )
    return tuple(label_from_json(label) for label in secret)
