"""Units of leakage: nats inside, bits where somebody asks for them."""

from __future__ import annotations

from tightlip.numeric.quantity import Nats
from tightlip.showing import Unit as Unit


def in_unit(amount: Nats, unit: Unit) -> float:
    """Convert an amount to a plain float in the unit asked for, rounded to the side it was rounded to.

    >>> in_unit(Nats(0.0), "bits")
    0.0
    """
    return amount.in_bits() if unit == "bits" else float(amount)


def with_unit(number: str, unit: Unit) -> str:
    """Append its unit to a number that was written out.

    >>> with_unit("1", "bits"), with_unit("0.5", "nats"), with_unit("inf", "nats")
    ('1 bit', '0.5 nats', 'infinite')
    """
    if number in ("inf", "infinite"):
        return "infinite"
    return f"{number} {unit[:-1] if number == '1' else unit}"
