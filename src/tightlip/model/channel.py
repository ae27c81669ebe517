"""What a mechanism does: for each secret, a distribution over outcomes."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tightlip.arguments import flag, instance
from tightlip.arguments import path as read_path
from tightlip.errors import InvalidChannel, InvalidInput, ShapeMismatch, WrongType, quoted
from tightlip.model.jsonio import as_object, check_keys, number_to_json, read_adjustment
from tightlip.model.labels import (
    Label,
    Labels,
    choose_labels,
    column_labels,
    labels_from_json,
    match,
    row_labels,
)
from tightlip.model.matrix import (
    REDUCE_TOLERANCE,
    Matrix,
    chain,
    column_max,
    column_min,
    dense,
    freeze,
    freeze_sparse,
    is_sparse,
    merge_proportional,
    multiply,
    nonzero_digest,
    same_entries,
)
from tightlip.model.normalize import normalize_exact, normalize_floats, read_counts, shares
from tightlip.model.prior import Prior, as_prior
from tightlip.numeric.display import format_about
from tightlip.numeric.parse import ObjectArray, float_number, numbers, to_floats
from tightlip.showing import Tabled

if TYPE_CHECKING:
    from tightlip.numeric.randomness import RandomSource

_MAX_PRODUCT = 200_000_000
_KEYS = {"inputs", "outputs", "sparse", "adjustment"}
_NOT_YET = {"_hash": None, "_peaks": None, "_pits": None}


@dataclass(frozen=True, slots=True, init=False, eq=False, repr=False)
class Channel(Tabled):
    """A mechanism: rows are secrets, columns are outcomes, entries P(outcome | secret).

    Parameters
    ----------
    rows : matrix
        Floats (nested lists, a numpy array or a scipy sparse matrix, which stays sparse) or exact
        numbers (Fractions, Decimals, text like "1/3"). The data is copied and cannot be changed.
    inputs, outputs : sequences, optional
        Names of secrets and outcomes; 0, 1, 2, … by default.

    Attributes
    ----------
    adjustment : float
        The largest distance of a row sum from 1 that was divided out (0.0 if none was).

    Raises
    ------
    InvalidChannel
        If an entry is negative or a row does not sum to 1 within 1e-9.

    >>> Channel([[0.9, 0.1], [0.2, 0.8]], inputs=["ill", "well"], outputs=["+", "-"])
    Channel(2 secrets ["ill", "well"] → 2 outcomes ["+", "-"], float)
    """

    inputs: Labels
    outputs: Labels
    adjustment: float
    _floats: Matrix
    _exact: ObjectArray | None
    _hash: int | None
    _peaks: NDArray[Any] | None
    _pits: NDArray[Any] | None

    def __init__(
        self, rows: Any, inputs: Iterable[Label] | None = None, outputs: Iterable[Label] | None = None
    ) -> None:
        if isinstance(rows, Channel):
            raise WrongType("channel rows must be a matrix, got a Channel; use it as it is.")
        inputs = choose_labels(row_labels(rows), inputs, "inputs")
        outputs = choose_labels(column_labels(rows), outputs, "outputs")
        floats, exact = _read_rows(rows)
        shape = (exact if exact is not None else floats).shape
        named_inputs = Labels.of(inputs, shape[0], "inputs")
        named_outputs = Labels.of(outputs, shape[1], "outputs")

        def name(row: int) -> str:
            label = f" ({quoted(named_inputs[row])})" if named_inputs.given else ""
            return f"channel row {row}{label}"

        remedy = "use Channel.from_counts for counts"
        if exact is not None:
            exact, adjustment = normalize_exact(exact, name, InvalidChannel, remedy)
            freeze(exact)
        else:
            floats, adjustment = normalize_floats(floats, name, InvalidChannel, remedy)
            floats = freeze_sparse(floats) if is_sparse(floats) else freeze(floats)
        self._fill(named_inputs, named_outputs, adjustment, floats, exact)

    def _fill(
        self, inputs: Labels, outputs: Labels, adjustment: float, floats: Matrix, exact: ObjectArray | None
    ) -> None:
        fields = {"inputs": inputs, "outputs": outputs, "adjustment": adjustment}
        for field, value in {**fields, "_floats": floats, "_exact": exact, **_NOT_YET}.items():
            object.__setattr__(self, field, value)

    @classmethod
    def from_counts(
        cls,
        counts: Any,
        inputs: Iterable[Label] | None = None,
        outputs: Iterable[Label] | None = None,
        *,
        prior: Prior | None = None,
        exact: bool = False,
    ) -> Channel:
        """Relative frequencies of outcomes for each secret, from a table of counts.

        A secret without data has no row, and a secret that `prior` calls impossible must have no
        data: both are refused.

        >>> Channel.from_counts([[3, 1], [0, 4]]).matrix
        array([[0.75, 0.25],
               [0.  , 1.  ]])
        """
        flag(exact, "exact")
        inputs = choose_labels(row_labels(counts), inputs, "inputs")
        outputs = choose_labels(column_labels(counts), outputs, "outputs")
        tallies = read_counts(counts.toarray() if is_sparse(counts) else counts, "counts", 2)
        names = Labels.of(inputs, tallies.shape[0], "inputs")
        rows, totals = shares(tallies, "counts", exact=exact)
        masses = None if prior is None else _masses_like(prior, names)
        for row, total in enumerate(totals):
            _check_total(row, quoted(names[row]), total, masses)
        if is_sparse(counts) and not exact:
            from scipy.sparse import csr_array

            rows = csr_array(rows)
        return cls(rows, names, outputs)

    @property
    def is_exact(self) -> bool:
        """Whether the entries are rationals."""
        return self._exact is not None

    @property
    def is_sparse(self) -> bool:
        """Whether the entries are stored sparsely."""
        return self._exact is None and is_sparse(self._floats)

    @property
    def shape(self) -> tuple[int, int]:
        """(number of secrets, number of outcomes)."""
        return self._floats.shape if self._exact is None else self._exact.shape

    @property
    def floats(self) -> Matrix:
        """The entries as floats: a read-only array, or a scipy CSR array where the channel is sparse."""
        if self._floats is None:
            assert self._exact is not None
            object.__setattr__(self, "_floats", freeze(to_floats(self._exact, "channel")))
        return copy.copy(self._floats) if self.is_sparse else self._floats  # a CSR array can swap its parts

    @property
    def matrix(self) -> Matrix:
        """The entries as stored: Fractions where the channel is exact, floats otherwise (read-only)."""
        return self._exact if self._exact is not None else self.floats

    @property
    def peaks(self) -> NDArray[Any]:
        """The largest entry of each column, as stored; found once."""
        if self._peaks is None:
            object.__setattr__(self, "_peaks", freeze(column_max(self.matrix)))
        assert self._peaks is not None
        return self._peaks

    @property
    def pits(self) -> NDArray[Any]:
        """The smallest entry of each column, as stored; found once."""
        if self._pits is None:
            object.__setattr__(self, "_pits", freeze(column_min(self.matrix)))
        assert self._pits is not None
        return self._pits

    def exact(self) -> Channel:
        """Convert to rationals: each float is the rational it stores, rows scaled to sum to 1 exactly.

        >>> Channel([[0.5, 0.5], [0.25, 0.75]]).exact().matrix[1, 0]
        Fraction(1, 4)
        """
        if self._exact is not None:
            return self
        rows = np.array(
            [[Fraction(entry) for entry in row] for row in dense(self._floats).tolist()], dtype=object
        )
        return Channel(rows / rows.sum(axis=1)[:, None], self.inputs, self.outputs)

    def post_process(self, other: Channel) -> Channel:
        """Compose with a post-processing `other` of the outcome: X → Y → Z.

        >>> merge = Channel([[1, 0], [1, 0], [0, 1]])
        >>> Channel([["1/2", "1/4", "1/4"]]).post_process(merge).matrix
        array([[Fraction(3, 4), Fraction(1, 4)]], dtype=object)
        """
        as_channel(other, "other")
        order = match(self.outputs, other.inputs, "post-processing inputs", "this channel's outputs")
        exact = self.is_exact and other.is_exact
        first, second = (self.matrix, other.matrix) if exact else (self.floats, other.floats)
        rows = chain(first, second if order is None else second[order], "post-processed channel")
        return Channel(rows, self.inputs, other.outputs)

    def product(self, other: Channel) -> Channel:
        """Run both mechanisms independently on one secret; outcomes are pairs.

        >>> coin = Channel([["1/2", "1/2"], ["1/4", "3/4"]], outputs=["h", "t"])
        >>> coin.product(coin).matrix[1]
        array([Fraction(1, 16), Fraction(3, 16), Fraction(3, 16), Fraction(9, 16)],
              dtype=object)
        """
        as_channel(other, "other")
        exact = self.is_exact and other.is_exact
        columns = self.shape[1] * other.shape[1]
        _require_product_size(self.shape[0], columns)
        first, second = dense(self.matrix if exact else self.floats), _rows_like(other, self, exact)
        rows = multiply(first[:, :, None], second[:, None, :], "product of channels")
        labels = tuple((one, two) for one in self.outputs for two in other.outputs)
        return Channel(rows.reshape(-1, columns), self.inputs, Labels(labels, given=True))

    def adaptive_product(self, second: Mapping[Label, Channel]) -> Channel:
        """Run a second mechanism, chosen by the first outcome, on the same secret; outcomes are pairs.

        K(y₁, y₂ | x) = K₁(y₁ | x) · K₂(y₂ | x, y₁), with K₂ = second[y₁].

        >>> coin = Channel([["1/2", "1/2"], ["1/4", "3/4"]], outputs=["h", "t"])
        >>> silent = Channel([[1], [1]], outputs=["nothing"])
        >>> coin.adaptive_product({"h": coin, "t": silent}).outputs
        [('h', 'h'), ('h', 't'), ('t', 'nothing')]
        """
        if not isinstance(second, Mapping):
            raise WrongType(
                f"second must be a dict from outcomes to channels, got {quoted(second)}; use product()."
            )
        parts = [_second_for(outcome, second) for outcome in self.outputs]
        _require_product_size(self.shape[0], sum(part.shape[1] for part in parts))
        exact = self.is_exact and all(part.is_exact for part in parts)
        first = dense(self.matrix if exact else self.floats)
        blocks = [
            multiply(first[:, [place]], _rows_like(part, self, exact), "product of channels")
            for place, part in enumerate(parts)
        ]
        labels = [(one, two) for one, part in zip(self.outputs, parts, strict=True) for two in part.outputs]
        return Channel(np.concatenate(blocks, axis=1), self.inputs, labels)

    def reduce(self, tolerance: float = REDUCE_TOLERANCE) -> Channel:
        """Merge outcomes that say the same about the secret (proportional columns).

        Exact channels are merged exactly. Of floats, two columns are merged when, scaled to sum
        to 1, each pair of entries agrees within a relative `tolerance` (a zero agrees with zero
        only); no leakage then moves by more than −4·log(1 − tolerance) nats, up to the rounding of the
        sums. Outcomes that never occur are
        dropped. A merged outcome is labelled by the tuple of its parts.

        >>> Channel([["1/2", "1/4", "1/4"], ["1/5", "2/5", "2/5"]], outputs=["a", "b", "c"]).reduce()
        Channel(2 secrets [0, 1] → 2 outcomes ["a", ('b', 'c')], exact)
        """
        merged, groups = merge_proportional(self.matrix, float_number(tolerance, "tolerance"))
        if len(groups) == self.shape[1]:
            return self
        names = [
            self.outputs[group[0]] if len(group) == 1 else tuple(self.outputs[place] for place in group)
            for group in groups
        ]
        return Channel(merged, self.inputs, names)

    def restricted_to(self, prior: Prior) -> Channel:
        """Restrict to the rows of the secrets that `prior` holds possible.

        >>> Channel([[1, 0], [0, 1], [1, 0]]).restricted_to(Prior([0.5, 0.5, 0])).shape
        (2, 2)
        """
        support = np.flatnonzero(_masses_like(prior, self.inputs))
        if len(support) == len(prior):
            return self
        return Channel(self.matrix[support], self.inputs.take(support), self.outputs)

    def draw(self, values: Any, *, randomness: RandomSource | None = None) -> Any:
        """Release values: draw an outcome for each secret, independently, with exactly this channel's probabilities.

        No float and no modulo rounds a probability; entries that are floats are the rationals of `exact()`.

        Parameters
        ----------
        values : column of secrets
            Labels of inputs: a list, a numpy array, a Series of pandas or polars, an Arrow array. A value is the
            label that it equals: 1.0 is 1, and "1" and True are not.
        randomness : RandomSource, optional
            ChaCha20 with a fresh key by default.

        Returns
        -------
        The labels of the outcomes, in the order of the values: a Series, with the same index and name, where the
        values are one, and else a numpy array.

        Raises
        ------
        InvalidInput
            When a value is no input of the channel, before anything is drawn; the message has its position.

        >>> channel = Channel([["2/3", "1/3"], [0, 1]], inputs=["ill", "well"], outputs=["+", "-"])
        >>> channel.draw(["well", "well"])
        array(['-', '-'], dtype='<U1')
        """
        from tightlip.model.column import read_column, write_column
        from tightlip.model.drawing import draw_outcomes
        from tightlip.numeric.randomness import RandomSource

        if randomness is None:
            randomness = RandomSource()
        source = instance(randomness, RandomSource, "randomness", "leave it out for a fresh one")
        secrets = read_column(values, self.inputs, "values", "inputs")
        return write_column(draw_outcomes(self.matrix, secrets, source), self.outputs, like=values)

    def to_json(self) -> str:
        """Write the channel as JSON text that `from_json` reads back without loss."""
        return json.dumps(self.to_dict())

    def save(self, path: Any, *, prior: Prior | None = None, secret: Any = None, force: bool = False) -> None:
        """Write a channel file, which `tightlip.load` and every command read.

        Parameters
        ----------
        path : of the file
        prior : Prior, optional
        secret : optional, a label for each row, or a mapping from the inputs
        force : whether a file that exists is replaced

        Raises
        ------
        InvalidInput
            When the file exists and `force` is not set, or cannot be written.
        """
        from tightlip.files import write_whole
        from tightlip.model.channel_file import channel_file_text

        place, replace = read_path(path, "path"), flag(force, "force")
        write_whole(place, channel_file_text(self, prior, secret), force=replace)

    def to_dict(self) -> dict[str, Any]:
        """Write the channel as plain JSON values."""
        rows = dense(self.matrix).tolist()
        record: dict[str, Any] = {"channel": [[number_to_json(entry) for entry in row] for row in rows]}
        if self.inputs.given:
            record["inputs"] = self.inputs.to_json()
        if self.outputs.given:
            record["outputs"] = self.outputs.to_json()
        if self.is_sparse:
            record["sparse"] = True
        if self.adjustment:
            record["adjustment"] = self.adjustment
        return record

    @classmethod
    def from_json(cls, text: str) -> Channel:
        """Read what `to_json` wrote.

        >>> channel = Channel([["1/3", "2/3"], ["1/2", "1/2"]], outputs=["a", "b"])
        >>> Channel.from_json(channel.to_json()) == channel
        True
        """
        return cls.from_dict(as_object(text, "channel JSON", {"channel"}, _KEYS))

    @classmethod
    def from_dict(cls, record: dict[str, Any]) -> Channel:
        """Read what `to_dict` gave."""
        check_keys(record, "channel record", {"channel"}, _KEYS)
        rows, sparse = record["channel"], record.get("sparse", False)
        if not isinstance(sparse, bool):
            raise WrongType(f"sparse must be true or false, got {quoted(sparse)}; leave it out for false.")
        if sparse:
            from scipy.sparse import csr_array

            read = numbers(rows, "channel", 2)
            rows = csr_array(read.floats if read.exact is None else to_floats(read.exact, "channel"))
        inputs, outputs = (labels_from_json(record.get(side), side) for side in ("inputs", "outputs"))
        channel = cls(rows, inputs, outputs)
        object.__setattr__(channel, "adjustment", max(channel.adjustment, read_adjustment(record)))
        return channel

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Channel):
            return NotImplemented
        return (
            self.is_exact == other.is_exact
            and self.inputs == other.inputs
            and self.outputs == other.outputs
            and same_entries(self.matrix, other.matrix)
        )

    def __hash__(self) -> int:
        if self._hash is None:
            object.__setattr__(self, "_hash", hash((nonzero_digest(self.matrix), self.inputs, self.outputs)))
        assert self._hash is not None
        return self._hash

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore, (self.inputs, self.outputs, self.adjustment, self.matrix, self.is_exact)

    def __repr__(self) -> str:
        kind = "exact" if self.is_exact else ("float, sparse" if self.is_sparse else "float")
        off = f", rows adjusted by up to {self.adjustment:.2g}" if self.adjustment > 0 else ""
        secrets, outcomes = self.shape
        return (
            f"Channel({secrets} secrets {self.inputs!r} → {outcomes} outcomes {self.outputs!r}, {kind}{off})"
        )


def _read_rows(rows: Any) -> tuple[Matrix, ObjectArray | None]:
    if is_sparse(rows):
        from scipy.sparse import csr_array

        if rows.ndim != 2 or 0 in rows.shape:
            raise ShapeMismatch(
                f"channel must be a matrix with rows and columns, got shape {rows.shape}; give rows."
            )
        if rows.dtype.kind not in "fiu":
            raise WrongType(f"channel must hold numbers, got {rows.dtype}; convert it to floats.")
        with np.errstate(over="ignore"):
            floats = csr_array(rows, dtype=np.float64, copy=True)
        floats.sum_duplicates()
        _require_finite_entries(floats)
        return floats, None
    read = numbers(rows, "channel", 2)
    if read.exact is not None:
        return None, read.exact
    assert read.floats is not None
    return read.floats, None


def _require_finite_entries(matrix: Matrix) -> None:
    bad = np.flatnonzero(~np.isfinite(matrix.data))
    if len(bad):
        entries = matrix.tocoo()
        row, column, value = (int(entries.row[bad[0]]), int(entries.col[bad[0]]), float(entries.data[bad[0]]))
        raise InvalidInput(
            f"channel row {row}, column {column} must be finite, got {value!r}; remove or impute it first."
        )


def as_channel(value: object, argument: str = "channel") -> Channel:
    """Read a channel; rows alone are none, since they may be counts or stand for something else."""
    return instance(value, Channel, argument, "write Channel(rows)")


def align(prior: Prior, channel: Channel) -> Prior:
    """Align a prior with the order of a channel's secrets."""
    as_channel(channel)
    as_prior(prior)
    order = match(channel.inputs, prior.labels, "prior labels", "the channel's inputs")
    if order is None:
        return prior
    return Prior(prior.masses[order], channel.inputs).with_adjustment(prior.adjustment)


def _require_product_size(rows: int, columns: int) -> None:
    if rows * columns > _MAX_PRODUCT:
        raise ShapeMismatch(
            f"product would have {rows} × {columns} entries, more than {_MAX_PRODUCT}; "
            "reduce() both channels first, or add their maximal leakages as a bound."
        )


def _masses_like(prior: Prior, inputs: Labels) -> NDArray[Any]:
    """The masses of a prior in the order of a channel's inputs."""
    as_prior(prior)
    order = match(inputs, prior.labels, "prior labels", "the channel's inputs")
    return prior.masses if order is None else prior.masses[order]


def _restore(inputs: Labels, outputs: Labels, adjustment: float, matrix: Matrix, exact: bool) -> Channel:
    """A channel from a pickle or a copy, read-only again."""
    channel: Channel = object.__new__(Channel)
    own = freeze_sparse(matrix.copy()) if is_sparse(matrix) else freeze(matrix.copy())
    channel._fill(inputs, outputs, adjustment, None if exact else own, own if exact else None)
    return channel


def _check_total(row: int, label: str, total: Any, masses: NDArray[Any] | None) -> None:
    if masses is not None and masses[row] == 0 and total > 0:
        raise InvalidChannel(
            f"prior of secret {label} must be positive, got 0 although counts row {row} holds "
            f"{format_about(total)} records; use Prior.from_counts on the same data."
        )
    if total == 0:
        raise InvalidChannel(
            f"counts row {row} ({label}) must not be all zero, got no records for this secret; leave the row out."
        )


def _second_for(outcome: Label, second: Mapping[Label, Channel]) -> Channel:
    if outcome not in second:
        raise ShapeMismatch(
            f"second must have a channel for each first outcome, got none for {quoted(outcome)}; add one."
        )
    part = second[outcome]
    as_channel(part, f"second[{quoted(outcome)}]")
    return part


def _rows_like(part: Channel, first: Channel, exact: bool) -> NDArray[Any]:
    rows = dense(part.matrix if exact else part.floats)
    order = match(first.inputs, part.inputs, "inputs of the second channel", "the first channel's inputs")
    return rows if order is None else rows[order]
