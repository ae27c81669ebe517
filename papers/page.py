"""The gallery: every reproduction on one page that loads nothing."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from papers.reproduction import Reproduction

PAPERS = {
    "ENV": "Information Leakage Envelopes",
    "PMC": "Information Density Bounds for Privacy",
    "GAU": "On the Information Leakage Envelope of the Gaussian Mechanism",
    "DOB": "Dobrushin Coefficients of Private Mechanisms Beyond Local Differential Privacy",
    "SML": "Statistic Maximal Leakage",
}


def render(found: Mapping[str, Reproduction], seconds: Mapping[str, float]) -> str:
    """Render the page; `found` by the name of its module."""
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent), autoescape=True, undefined=StrictUndefined
    )
    papers = [
        (short, title, [name for name in found if found[name].title.startswith(short)])
        for short, title in PAPERS.items()
    ]
    pictures = {name: [_shrinking(panel.svg()) for panel in one.panels] for name, one in found.items()}
    return environment.get_template("page.html").render(
        papers=papers, found=found, pictures=pictures, seconds=seconds
    )


def _shrinking(svg: str) -> Markup:
    """A picture that shrinks with the page: its size becomes its view box."""
    return Markup(re.sub(r'^(<svg[^>]*?) width="[\d.]+" height="[\d.]+"', r"\1", svg, count=1))
