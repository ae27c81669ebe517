"""CSV files that break a rule or none, and a plain reader of the rules that docs/policy.md gives."""

import re

DELIMITERS = ",;\t|"
_IN_QUOTES = re.compile(r'"[^"]*"')
_LINE_END = re.compile(r"\r\n|\n|\r")
_REAL = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?")


class Refused(Exception):
    """A file that the rules do not allow."""


def written(random, names, rows):
    """The bytes of a file: any delimiter, line end and quotes, and at times one thing that the rules do not allow."""
    delimiter, newline = random.choice(DELIMITERS), random.choice(["\n", "\r\n", "\r"])
    always = random.random() < 0.3
    lines = [[_field(value, delimiter, always) for value in row] for row in [names, *rows]]
    ends = [newline] * len(lines)
    if random.random() < 0.35:
        _break(random, lines, ends)
    if random.random() < 0.3:
        ends[-1] = ""
    mark = "\ufeff" if random.random() < 0.2 else ""
    text = mark + "".join(delimiter.join(line) + end for line, end in zip(lines, ends, strict=True))
    return text.encode(errors="surrogateescape")


def _field(value, delimiter, always):
    text = "" if value is None else str(value)
    if always or any(sign in text for sign in (delimiter, '"', "\n", "\r")):
        return '"' + text.replace('"', '""') + '"'
    return text


def _break(random, lines, ends):
    """Another number of fields, other line ends, quotes or bytes in one line; an empty line, which is allowed."""
    at = random.randrange(len(lines))
    line, place = lines[at], random.randrange(len(lines[at]))
    kind = random.randrange(8)
    if kind == 0:
        del line[place]
    elif kind == 1:
        line.append("")
    elif kind == 2:
        ends[at] = random.choice(["\n", "\r\n", "\r", "\n\r", ""])
    elif kind == 3:
        lines.insert(at, [])
        ends.insert(at, ends[at])
    elif kind == 4:
        line[place] = line[place][1:-1] if line[place].startswith('"') else f'"{line[place]}"'
    elif kind == 5:
        line[place] = random.choice(['"', '""', ' "a"', '"a" ', 'a"b"', '"a"b'])
    elif kind == 6:
        line[place] += "\udcff"  # a byte that is no text
    else:
        cut = random.randrange(len(line[place]) + 1)
        line[place] = line[place][:cut] + '"' + line[place][cut:]


def plain_rows(text, names):
    """Fields of some columns, row by row, each with whether it stands in quotes.

    Raises
    ------
    Refused
        With the rule that is broken.
    """
    text = text.removeprefix("\ufeff")
    bare = _IN_QUOTES.sub(lambda found: "x" * len(found.group()), text)
    end = _LINE_END.search(bare)
    newline, first = (end.group(), bare[: end.start()]) if end else ("\n", bare)
    delimiter = max(DELIMITERS, key=first.count)
    header, *rows = _records(text, delimiter, newline) or [[]]
    header = [name for name, _ in header]
    if len(set(header)) < len(header) or not set(names) <= set(header):
        raise Refused("names twice, or not there")
    rows = [row for row in rows if row != [("", False)]]
    if any(len(row) != len(header) for row in rows):
        raise Refused("too few or too many fields")
    return [[row[header.index(name)] for name in names] for row in rows]


def _records(text, delimiter, newline):
    field = re.compile(rf'"((?:[^"]|"")*)"|([^"\r\n{re.escape(delimiter)}]*)')
    rows, row, place = [], [], 0
    while place < len(text) or row:
        found = field.match(text, place)
        quoted, bare = found.groups()
        row.append((bare, False) if quoted is None else (quoted.replace('""', '"'), True))
        place = found.end()
        if text.startswith(delimiter, place):
            place += 1
        elif place == len(text) or text.startswith(newline, place):
            place += len(newline)
            rows.append(row)
            row = []
        else:
            raise Refused("a quote inside a field, or another line end")
    return rows


def refuse_two_ways(column):
    """Refuse a column that has one value in quotes and without, or one boolean or number in two ways.

    Returns whether some of its numbers are too long or large for a float: they are text then, or refused.
    """
    texts = {text for text, _ in column}
    if len(set(column)) > len(texts):
        raise Refused("in quotes and without")
    texts.discard("")
    if {text.lower() for text in texts} <= {"true", "false"}:
        values = {text.lower() for text in texts}
        long = False
    elif all(map(_REAL.fullmatch, texts)) and not all(map(_is_whole, texts)):
        values = {float(text) for text in texts}
        long = float("inf") in map(abs, values) or any(_digits(text) > 15 for text in texts)
    else:
        return False
    if len(values) < len(texts) and not long:
        raise Refused("one value in two ways")
    return long


def _digits(number):
    return len(re.sub("[eE].*|[^0-9]", "", number))


def _is_whole(text):
    return bool(re.fullmatch("-?[0-9]+", text)) and -(2**63) <= int(text) < 2**63 and str(int(text)) == text
