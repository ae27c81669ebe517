"""Several points of an envelope: a list that is also a table and a picture."""

from __future__ import annotations

from tightlip.envelopes.result import Envelope
from tightlip.showing import Charted, Tabled


class EnvelopeCurve(list[Envelope], Charted, Tabled):
    """The envelope at several δ, in the order in which they were asked for.

    >>> from tightlip import papers, Prior, envelope_curve
    >>> curve = envelope_curve(papers.env_example_1(), Prior.uniform(4), ["0.1", "0.5"])
    >>> [point["delta"] for point in curve.to_dict()["points"]]
    [0.1, 0.5]
    """

    __slots__ = ()
