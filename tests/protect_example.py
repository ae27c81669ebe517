"""Protections made from small frames; `text` goes into every name and value of the table."""

from functools import cache

import numpy as np
import pandas as pd

import tightlip as tl
from tightlip.report.protect import protect_record

RARE = 3  # people of the one small cell, all of them ill


def example_table(text=""):
    """Ages 20 to 23 in two towns, 400 people; men of 23 in the south are three, all with the rarest illness."""
    draw = np.random.default_rng(5)
    age = draw.integers(20, 24, 400)
    town = draw.choice(["north", "south"], 400)
    ill = draw.choice(["none", "flu", "gout"], 400, p=[0.75, 0.2, 0.05])
    small = np.flatnonzero((age == 23) & (town == "south"))
    town[small[RARE:]] = "north"
    ill[small[:RARE]] = "gout"
    frame = pd.DataFrame({"age": age.astype(str), "town": town, "ill": ill})
    return frame.map(lambda value: f"{value}{text}").rename(columns=lambda name: f"{name}{text}")


@cache
def example_protection(text="", *, randomised=False, budget="factor 2", seconds=2.0):
    columns = [f"{name}{text}" for name in ("age", "town")]
    age = {f"{year}{text}": f"{decade}{text}" for year, decade in zip(range(20, 24), "aabb", strict=True)}
    return tl.protect(
        example_table(text),
        f"ill{text}",
        columns,
        budget,
        levels={columns[0]: ["as is", age, "out"], columns[1]: ["as is", "out"]},
        randomised=randomised,
        seconds=seconds,
    )


@cache
def example_curve(text=""):
    return example_protection(text).trade_off(["factor 3/2", "factor 4"], seconds=1)


def protect_report(text="", *, randomised=False, curve=True, show_values=False, unit="nats", **options):
    return protect_record(
        example_protection(text, randomised=randomised, **options),
        table=f"people{text}.csv",
        command=f"tightlip protect people{text}.csv",
        curve=example_curve(text) if curve and not randomised else None,
        show_values=show_values,
        unit=unit,
        code_seed=1,
        version="0",
        made="2026-01-02T03:04:05Z",
    )
