"""What secrets and cells are called: by their values where they may be shown, by codes otherwise.

Without leave to show values every secret is "secret 3" and every cell of fewer than ten people "cell 17"; people are
counted before noise, which gives every value to many. Larger cells are called by their released values, which are meant
for publication. Codes hide names, not shares: who knows how frequent a secret is may recognise it by its share.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from tightlip.auditing.result import Audit, SecretView
from tightlip.auditing.sample_view import UNSEEN

SMALL = 10
_LONGEST = 40


@dataclass(frozen=True, slots=True)
class Names:
    """The names that a report about one view uses."""

    audit: Audit
    view: SecretView
    show_values: bool = False

    def secret(self, place: int) -> str:
        """A secret: its values, or "secret 3"."""
        if not self.show_values:
            return f"secret {place + 1}"
        label = self.view.counted.secret_label(place)
        columns = self.view.counted.secret_columns
        if len(columns) == 1:
            column = _plain(columns[0])
            return f"{column} missing" if label[0] is None else f'{column} "{_plain(label[0])}"'
        return _pairs(columns, label)

    def cell(self, place: int) -> str:
        """A cell: its released values where it is large or values may be shown, or "cell 17"."""
        if place == UNSEEN:
            return "a released value outside the sample"
        label = self.view.counted.cell_label(place)
        if label is None:
            return "the cell of all suppressed people"
        return _pairs(self.view.counted.columns, label) if self.shows(place) else f"cell {place + 1}"

    def shows(self, place: int) -> bool:
        """Whether a cell may be called by its values: many people have them, or values may be shown."""
        return self.show_values or self.view.counted.holders_of(place) >= SMALL


def _pairs(columns: Iterable[str], label: Iterable[str | None]) -> str:
    return ", ".join(
        f"{_plain(column)} = {_plain(value) if value is not None else '(missing)'}"
        for column, value in zip(columns, label, strict=True)
    )


def _plain(text: str) -> str:
    """Text on one line without control characters, cut where it is long."""
    shown = "".join(character if character.isprintable() else "�" for character in text)
    return shown if len(shown) <= _LONGEST else shown[: _LONGEST - 1] + "…"
