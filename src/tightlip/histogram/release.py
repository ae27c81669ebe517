"""Release a histogram of a table: choose cells, secret and mechanism, see what it gives away, draw, write.

`plan_release` says privacy and distortion before anything is drawn; `.draw()` makes the release. Neither carries the
table's own counts, its secret or the distance between the two tables: printing those would give away what the mechanism
hides.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal, NoReturn

import numpy as np

from tightlip import arguments
from tightlip.arguments import choice, flag
from tightlip.errors import InvalidInput, WrongType, quoted
from tightlip.files import write_whole
from tightlip.histogram.conditional import ConditionalDraw, draw_given_secret
from tightlip.histogram.maxl import MaxLMechanism, privacy_of_bins
from tightlip.histogram.privacy import Distortion, Privacy
from tightlip.histogram.quantization import Quantization
from tightlip.histogram.randomized_response import RandomizedResponse
from tightlip.histogram.ratio_distortion import ratio_distortion
from tightlip.histogram.sampling import uniform_histogram
from tightlip.histogram.secret import GroupedSecret, Ratio, RatioDifference, Share, TableSecret
from tightlip.histogram.share_distortion import share_distortion
from tightlip.histogram.space import HistogramSpace
from tightlip.histogram.support import ListedCells, unlisted_distortion, unlisted_privacy, with_support
from tightlip.histogram.table import CellTable, Domain, tabulate
from tightlip.numeric.randomness import Integers, RandomSource
from tightlip.showing import Shown, Tabled

MechanismName = Literal["qm", "rr", "maxl"]

_MOST_ENTRIES = 10**8
_SEEDED = (
    "Drawn with a seed for tests: whoever knows the seed can undo the protection, so this protects nobody."
)


@dataclass(frozen=True, slots=True, eq=False)
class HistogramRelease(Shown, Tabled):
    """A released table and what is known about it beforehand.

    Attributes
    ----------
    table : CellTable
        The released counts; `table.rows()` are rows, `table.csv_text()` a CSV file.
    privacy : Privacy
        Statistic maximal leakage about the secret, in nats; `privacy.upper` is the guarantee.
    distortion : Distortion
        Worst-case expected total variation distance between the table's histogram and the released one.
    secret, mechanism : str
        In words.
    exact : bool
        Whether the draw has exactly the stated distribution. If not, privacy is the same and distortion approximate.
    method : str
        How it was drawn.
    note : str | None
        What the guarantee does not cover.
    seeded : bool
        Whether it was drawn with a seed for tests: then nothing is protected, and a file of it says so in a column.
    """

    table: CellTable
    privacy: Privacy
    distortion: Distortion
    secret: str
    mechanism: str
    exact: bool
    method: str
    note: str | None

    @property
    def seeded(self) -> bool:
        """Whether it was drawn with a seed for tests, so that whoever knows the seed can undo the protection."""
        return self.table.seeded

    def write_csv(self, path: str | Path, *, force: bool = False, spreadsheet_safe: bool = False) -> None:
        """Write the released rows to a CSV file, wholly or not at all; only its owner may read it.

        Raises
        ------
        InvalidInput
            When the file exists and force is not set, or cannot be written.
        """
        flag(force, "force")
        flag(spreadsheet_safe, "spreadsheet_safe")
        text = self.table.csv_text(spreadsheet_safe=spreadsheet_safe)
        write_whole(arguments.path(path, "path"), text, force=force, private=True)


@dataclass(frozen=True, slots=True, eq=False)
class ReleasePlan(Shown):
    """A mechanism for one table, with its privacy and distortion; nothing is drawn yet.

    For MaxL the histograms that it may release are already chosen, without looking at the table. A plan that is drawn
    from in forked processes gives each a draw of its own; it cannot be pickled, since it holds the table. `seeded` says
    that its draws are for tests and protect nobody.
    """

    domain: Domain
    total: int
    privacy: Privacy
    distortion: Distortion
    secret: str
    mechanism: str
    seeded: bool
    _draw: Callable[[], ConditionalDraw] = field(repr=False)

    def draw(self) -> HistogramRelease:
        """Draw the release.

        Every draw of the same table is a further release: what they give away adds up.
        """
        drawn = self._draw()
        notes = [note for note in (_SEEDED if self.seeded else None, self.domain.note) if note]
        return HistogramRelease(
            CellTable(self.domain, drawn.counts, self.seeded),
            self.privacy,
            self.distortion,
            self.secret,
            self.mechanism,
            drawn.exact,
            drawn.method,
            " ".join(notes) or None,
        )

    def __copy__(self) -> ReleasePlan:
        return self  # it does not change, and its source of randomness must not be there twice

    def __deepcopy__(self, _memo: object) -> ReleasePlan:
        return self

    def __reduce__(self) -> NoReturn:
        raise WrongType(
            "a release plan must stay in its process and those forked from it, got a pickle of it, which would hold "
            "the table; plan the release where it is drawn."
        )


def release_histogram(
    table: Any, columns: Sequence[str] | None, secret: TableSecret, **options: Any
) -> HistogramRelease:
    """Release a histogram of a table; parameters as for `plan_release`.

    >>> rows = {"sex": ["F", "M", "F", "M"], "ill": ["yes", "no", "no", "no"]}
    >>> release = release_histogram(rows, ["sex", "ill"], Share({"ill": "yes"}), bin_size=2)
    >>> release.privacy.ratio, release.table.total, release.exact
    (Fraction(3, 1), 4, True)
    """
    return plan_release(table, columns, secret, **options).draw()


def plan_release(
    table: Any,
    columns: Sequence[str] | None,
    secret: TableSecret,
    *,
    mechanism: MechanismName = "qm",
    bin_size: int | None = None,
    epsilon: object = None,
    ordered: bool = True,
    feasible: Any = None,
    support: Any = None,
    seed_for_tests: int | None = None,
) -> ReleasePlan:
    """Prepare the release of a table's histogram and say what it will give away.

    Parameters
    ----------
    table : file, database, data frame, mapping from column to values or list of records, see `tabulate`
    columns : names of the columns to release; all when None
    secret : Share, Ratio or RatioDifference
    mechanism : "qm" quantization, "rr" randomised response, "maxl" nearest of a few histograms
    bin_size : how many consecutive secret values share a bin; for "qm" and "maxl"
    epsilon : level of randomised response in nats; for "rr"
    ordered : False lets "qm" release any secret value of the bin instead of its middle one
    feasible : which cells there are, see `tabulate`
    support : rows, for "qm": the combinations that are listed for releases, where these are not the feasible ones.
        A release lies on them and on those that the table has, so an unlisted one tells that the table has it; the
        guarantee, for tables on the feasible combinations, includes that
    seed_for_tests : makes the draw reproducible, and undoes its protection; for tests only

    Raises
    ------
    InvalidInput
        When the table, the secret or the options cannot be used.
    """
    _require_options(mechanism, bin_size, epsilon, support)
    flag(ordered, "ordered")
    if not isinstance(secret, Share | Ratio | RatioDifference):
        raise WrongType(
            f"secret must be a Share, a Ratio or a RatioDifference, got {quoted(secret)}; "
            'write Share({"ill": "yes"}).'
        )
    counted = tabulate(table, columns, feasible=feasible)
    if counted.domain.size < 2:
        raise InvalidInput("columns must have at least two feasible combinations, got one; it tells nothing.")
    cells = None
    if support is not None:
        counted, cells = with_support(counted, support)
    space = HistogramSpace(counted.total, counted.domain.size)
    grouped = secret.on(counted.domain, counted.total)
    random = RandomSource(seed_for_tests=seed_for_tests)
    build = {"qm": _quantization, "rr": _randomized_response, "maxl": _maxl}[mechanism]
    privacy, distortion, words, draw = build(
        _Setting(
            counted.counts,
            space,
            grouped,
            isinstance(secret, Share),
            getattr(secret, "resolution", None),
            random,
            cells,
        ),
        bin_size,
        epsilon,
        ordered,
    )
    return ReleasePlan(
        counted.domain, counted.total, privacy, distortion, str(secret), words, random.seeded, draw
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Setting:
    counts: Integers
    space: HistogramSpace
    secret: GroupedSecret
    is_share: bool
    resolution: Fraction | None
    random: RandomSource
    cells: ListedCells | None

    def draw(self, wanted: range) -> ConditionalDraw:
        """A histogram whose secret is in a range, uniform among those that may be released."""
        if self.cells is not None:
            return self.cells.draw(self.counts, self.secret, wanted, self.random)
        return draw_given_secret(self.secret, wanted, self.random)


_Built = tuple[Privacy, Distortion, str, Callable[[], ConditionalDraw]]


def _quantization(given: _Setting, bin_size: Any, _epsilon: object, ordered: bool) -> _Built:
    one_cell = given.is_share and given.secret.sizes[0] == 1
    mechanism = Quantization(
        given.space, bin_size, ordered=ordered, secrets=None if one_cell else given.secret.size
    )
    privacy, distortion = _measured(given, mechanism, one_cell)

    def draw() -> ConditionalDraw:
        own = mechanism.bin_of(given.secret.index(given.counts))
        middle = mechanism.representative(own)
        wanted = range(middle, middle + 1) if ordered else mechanism.members(own)
        return given.draw(wanted)

    place = "the bin's middle value" if ordered else "any value in the bin"
    words = f"quantization, {mechanism.bins} bins of {mechanism.bin_size} secret values, releasing {place}"
    return privacy, distortion, words, draw


def _measured(given: _Setting, mechanism: Quantization, one_cell: bool) -> tuple[Privacy, Distortion]:
    """What quantization gives away and what it costs."""
    secret, bin_size, ordered = given.secret, mechanism.bin_size, mechanism.ordered
    if given.cells is not None:
        own, more = given.cells.per_group(secret)
        present = np.unique(secret.group_of_cell[given.cells.feasible])
        privacy = unlisted_privacy(
            secret.total,
            own,
            more,
            secret.size,
            bin_size,
            share=given.is_share,
            ordered=ordered,
            attained=len(present) == sum(size > 0 for size in secret.sizes),
        )
        return privacy, unlisted_distortion(secret, given.cells, bin_size)
    if one_cell:
        return mechanism.privacy, mechanism.distortion
    if given.is_share and ordered:
        return mechanism.privacy, share_distortion(given.space, bin_size, secret.sizes[0])
    found = ratio_distortion(
        secret.total, secret.sizes, bin_size, resolution=given.resolution, ordered=ordered
    )
    return mechanism.privacy, found


def _randomized_response(given: _Setting, _bin_size: Any, epsilon: object, _ordered: bool) -> _Built:
    mechanism = RandomizedResponse(given.space, epsilon, secrets=given.secret.size)

    def draw() -> ConditionalDraw:
        keep = given.random.happens_between(mechanism.keep_interval)
        other = uniform_histogram(given.space.total, given.space.cells, given.random)
        return ConditionalDraw(given.counts if keep else other, True, "an exact coin, then stars and bars")

    return mechanism.privacy, mechanism.distortion, "randomised response on histograms", draw


def _maxl(given: _Setting, bin_size: Any, _epsilon: object, _ordered: bool) -> _Built:
    bins = Quantization(given.space, bin_size, secrets=given.secret.size)
    if bins.bins * given.space.cells > _MOST_ENTRIES:
        raise InvalidInput(
            f"bin_size must leave at most {_MOST_ENTRIES // given.space.cells} bins, got {bins.bins}; make it larger."
        )
    drawn = [draw_given_secret(given.secret, bins.members(place), given.random) for place in range(bins.bins)]
    mechanism = MaxLMechanism(given.space, np.stack([one.counts for one in drawn]))

    def draw() -> ConditionalDraw:
        distances = [int(np.abs(point - given.counts).sum()) for point in mechanism.released]
        nearest = mechanism.released[int(np.argmin(distances))]
        return ConditionalDraw(nearest, all(one.exact for one in drawn), "nearest of the drawn histograms")

    privacy = privacy_of_bins(given.space, bin_size, given.secret.size)
    words = f"MaxL, nearest of {bins.bins} histograms drawn one from each bin of {bin_size} secret values"
    return privacy, mechanism.distortion, words, draw


def _require_options(mechanism: str, bin_size: object, epsilon: object, support: object) -> None:
    choice(mechanism, "mechanism", ("qm", "rr", "maxl"))
    if support is not None and mechanism != "qm":
        raise InvalidInput(
            f"support must not be given for mechanism {mechanism}, got a list; only qm has a guarantee with it."
        )
    needed, unused = ("epsilon", "bin_size") if mechanism == "rr" else ("bin_size", "epsilon")
    given = {"epsilon": epsilon, "bin_size": bin_size}
    if given[needed] is None:
        raise InvalidInput(f"{needed} must be given for mechanism {mechanism}, got none.")
    if given[unused] is not None:
        raise InvalidInput(
            f"{unused} must not be given for mechanism {mechanism}, got {quoted(given[unused])}; it uses {needed}."
        )
