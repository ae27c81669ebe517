"""Damage to files, as disks, networks and attackers make it."""

import json
import re
from fractions import Fraction

_ODD = [
    b"\0",
    b"\xff",
    b'"',
    b",",
    b"\n",
    b"\r\n",
    b"'",
    b"=",
    b"\xef\xbb\xbf",
    b"999999999999",
    b"1e999",
    b"-0",
    b"nan",
]
_JUNK = [None, True, -1, 0, 1e308, "", "1e999", "0x10", "١", "1/0", "-1/3", [], {}, [[]], "a" * 300, 10**40]


def damaged(random, data):
    """The bytes of a file with one to three pieces changed, lost, doubled or put in."""
    data = bytearray(data)
    for _ in range(random.randint(1, 3)):
        at = random.randrange(len(data) + 1)
        to = min(len(data), at + random.choice([1, 2, 8, 64]))
        kind = random.randrange(5)
        if kind == 0 and at < len(data):
            data[at] ^= 1 << random.randrange(8)
        elif kind == 1:
            del data[at:to]
        elif kind == 2:
            data[at:at] = data[at:to]
        elif kind == 3:
            data[at:at] = random.choice(_ODD)
        else:
            del data[random.choice([at, len(data) - 1, len(data) // 2]) :]
    return bytes(data)


def damaged_json(random, text):
    """A JSON text with one to three of its values changed, swapped, lost or replaced by junk; or damaged as bytes."""
    if random.random() < 0.2:
        return damaged(random, text.encode()).decode(errors="replace")
    record = json.loads(text)
    for _ in range(random.randint(1, 3)):
        _change(random, record)
    return json.dumps(record)


def _change(random, record):
    places = list(_places(record))
    if not places:
        return
    holder, key = random.choice(places)
    kind = random.randrange(4)
    if kind == 0:
        holder[key] = random.choice(_JUNK)
    elif kind == 1:
        del holder[key]
    elif kind == 2 and isinstance(holder, list):
        other = random.randrange(len(holder))
        holder[key], holder[other] = holder[other], holder[key]
    else:
        holder[key] = _nearby(random, holder[key])


def _nearby(random, value):
    """A number larger or smaller, by much or by very little; other values as they are."""
    change = 1 + random.choice([-1, 1]) * Fraction(1, random.choice([2, 10, 1000, 10**12, 10**30]))
    if isinstance(value, str) and re.fullmatch("-?[0-9]+(/[0-9]+)?", value):
        return str(Fraction(value) * change)
    if isinstance(value, float):
        return random.choice([value * float(change), value + 1e-9, str(Fraction(value) * change)])
    return value + random.choice([-1, 1]) if type(value) is int else value


def nudged(random, text, names):
    """A JSON text with one or two of the numbers under some names made larger or smaller."""
    record = json.loads(text)
    places = [(holder, key) for name in names for holder, key in _below(record, name)]
    for holder, key in random.choices(places, k=random.randint(1, 2)):
        holder[key] = _nearby(random, holder[key])
    return json.dumps(record)


def _below(record, name):
    """The place of a name, and all that is under it."""
    for holder, key in _places(record):
        if key == name:
            yield holder, key
            yield from _places(holder[key])


def _places(record):
    entries = (
        record.items() if isinstance(record, dict) else enumerate(record) if isinstance(record, list) else ()
    )
    for key, value in entries:
        yield record, key
        yield from _places(value)
