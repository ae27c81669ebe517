"""How results show themselves, in a notebook above all: as JSON, as a short page, as a data frame, as a picture.

Words, tables and pictures are made in `tightlip.report`, to the right of every result. These bases ask it when they are
called, and only `tightlip.report.notebook`; that is the one way back in the flow of the data, and the layers in
pyproject.toml name it.
"""

from __future__ import annotations

from typing import Any, Literal, get_args

from tightlip.arguments import choice, flag

Unit = Literal["nats", "bits"]


def check_shown(show_values: object, unit: object) -> None:
    """Refuse what does not say whether values may be shown, and in which unit."""
    flag(show_values, "show_values")
    choice(unit, "unit", get_args(Unit))


class Paged:
    """What has a few lines for a notebook."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        """A few lines for a notebook; every label is escaped."""
        from tightlip.report import notebook

        return notebook.html_of(self)


class Shown(Paged):
    """A result that can show itself."""

    __slots__ = ()

    def to_dict(self, *, unit: Unit = "nats") -> dict[str, Any]:
        """What is known, as JSON takes it; amounts in nats or bits."""
        from tightlip.report import notebook

        choice(unit, "unit", get_args(Unit))
        return notebook.record_of(self, unit)


class Charted(Shown):
    """A result that has a picture."""

    __slots__ = ()

    def chart(self, *, unit: Unit = "nats") -> Any:
        """The picture, an Altair chart: show it in a notebook, or save it with `chart.save(path)`.

        Raises
        ------
        InvalidInput
            With the line to run, where the charting library is not installed.
        """
        from tightlip.report import notebook

        choice(unit, "unit", get_args(Unit))
        return notebook.chart_of(self, unit)


class Tabled(Paged):
    """What is a table."""

    __slots__ = ()

    def to_pandas(self) -> Any:
        """The table as a pandas data frame; leakages in nats.

        Raises
        ------
        InvalidInput
            With the line to run, where pandas is not installed.
        """
        from tightlip.report import notebook

        return notebook.frame_of(self)
