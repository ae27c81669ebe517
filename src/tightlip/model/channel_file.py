"""CHANNEL.json: a channel, names, perhaps a prior, and perhaps which secret each row belongs to; in and out."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

from tightlip.arguments import listed
from tightlip.errors import InvalidInput, ShapeMismatch, quoted
from tightlip.model.channel import Channel, align
from tightlip.model.jsonio import check_keys
from tightlip.model.labels import (
    Label,
    Labels,
    label_from_json,
    labels_from_json,
    places_of,
    read_label,
    split_labels,
)
from tightlip.model.prior import Prior
from tightlip.numeric.parse import number

_KEYS = {"channel", "counts", "prior", "inputs", "outputs", "secret", "labels", "sparse", "adjustment"}


class ChannelFile(NamedTuple):
    """What a channel file holds; `prior` and `secret` are None where the file has none."""

    channel: Channel
    prior: Prior | None
    secret: tuple[Label, ...] | None

    def require_prior(self, path: Path) -> Prior:
        """Return the prior, or an error that says how to add one."""
        if self.prior is None:
            raise InvalidInput(
                f'{path} must have the key "prior" for this command, got none; '
                'add "prior": [..] or, if every secret is equally likely, "prior": "uniform".'
            )
        return self.prior


def channel_file_of(given: Any, name: str) -> ChannelFile:
    """Read and check the JSON values of a channel file; `name` is what messages call it."""
    record = check_keys(given, name, set(), _KEYS)
    if ("channel" in record) == ("counts" in record):
        raise InvalidInput(
            f'{name} must have the key "channel" or "counts", and not both, got {sorted(record)}.'
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


class PriorFile(NamedTuple):
    """What a file holds that needs only a prior; `channel` is None where the file has none."""

    prior: Prior
    channel: Channel | None


def prior_file_of(given: Any, name: str) -> PriorFile:
    """Read and check the JSON values of a channel file that may be without a channel, but not without a prior."""
    record = check_keys(given, name, set(), _KEYS)
    if "channel" in record or "counts" in record:
        found = channel_file_of(record, name)
        return PriorFile(found.require_prior(Path(name)), found.channel)
    check_keys(record, name, {"prior"}, {"inputs", "labels", "adjustment"})
    if record.get("inputs") is not None and record.get("labels") is not None:
        raise InvalidInput(
            f'{name} must have one of "inputs" and "labels" without a channel, got both; drop one.'
        )
    key = "labels" if record.get("inputs") is None else "inputs"
    return PriorFile(_prior_alone(record["prior"], labels_from_json(record.get(key), key), name), None)


def _prior_alone(prior: Any, labels: list[Label] | None, name: str) -> Prior:
    if isinstance(prior, dict) and labels is not None:
        raise InvalidInput(
            f"{name} must not name the secrets of a prior that has names of its own, got both; drop one."
        )
    if not isinstance(prior, str):
        return Prior(prior, labels)
    if prior != "uniform" or labels is None:
        raise InvalidInput(
            f'{name} must have a prior that is a list, an object, or "uniform" beside "inputs", got {quoted(prior)}; '
            'write "inputs": [..] with the secrets.'
        )
    return Prior.uniform(labels)


def channel_file_text(channel: Channel, prior: Prior | None, secret: Any) -> str:
    """Write a channel file; reading it gives the same channel, prior (in the channel's order) and secrets."""
    record = channel.to_dict()
    if prior is not None:
        own = align(prior, channel)
        record["prior"] = own.to_dict()["prior"]
        if own.labels.given and not channel.inputs.given:
            record["labels"] = own.labels.to_json()
    if secret is not None:
        record["secret"] = Labels(_labels_of_rows(secret, channel), given=True).to_json()
    return json.dumps(record)


def _labels_of_rows(secret: Any, channel: Channel) -> tuple[Label, ...]:
    """A label for each row, from a sequence or a mapping by input."""
    values, own = split_labels(secret, "secret")
    values = listed(values, "secret", "labels")
    if own is not None:
        values = [values[place] for place in places_of(channel.inputs, own, "secret", "rows of the channel")]
    if len(values) != channel.shape[0]:
        raise ShapeMismatch(
            f"secret must have one label for each of {channel.shape[0]} channel rows, got {len(values)}."
        )
    return tuple(read_label(value, "secret") for value in values)


def _from_counts(record: dict[str, Any]) -> ChannelFile:
    """A table of counts, rows secrets and columns outcomes, gives both the channel and the prior, exactly."""
    if "prior" in record:
        raise InvalidInput('"prior" must not be given with "counts", got both; the row totals are the prior.')
    inputs, outputs = (labels_from_json(record.get(side), side) for side in ("inputs", "outputs"))
    channel = Channel.from_counts(record["counts"], inputs, outputs, exact=True)
    totals = [sum(Fraction(number(entry, "counts")) for entry in row) for row in record["counts"]]
    prior = Prior.from_counts(totals, channel.inputs if channel.inputs.given else None, exact=True)
    return ChannelFile(channel, prior, _secret(record.get("secret"), channel))


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
