"""An extension of Griffe: the docstrings of the project in the form that it renders.

    name : what it is          the words after the colon are a description; the type is that of the signature
    Returns: Bound in nats.    the type first, then what is said of it
    an example                 set as a console, not as a quotation; after the sections where there are any

Nothing is left out but a type that the signature has too.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

import griffe

_RULE = re.compile(r"-{3,}")
_EMPHASIS = re.compile(r"(?:^|[\s(])\*{1,2}\w")
_STAR = re.compile(r"(?<=\w)\*")
_WRAPPED = (
    88  # a first line of this length goes on below; the next line of a shorter one is a sentence of its own
)


class Docstrings(griffe.Extension):
    """Rewrite each docstring before it is parsed."""

    def on_package(self, *, pkg: griffe.Module, **_: object) -> None:
        """Rewrite the docstrings of a package, once all of it is known."""
        _rewrite_all(pkg)


def _rewrite_all(obj: griffe.Object) -> None:
    if obj.docstring is not None:
        returned = str(obj.returns or "") if isinstance(obj, griffe.Function) else ""
        obj.docstring.value = rewrite(obj.docstring.value, returned, _types(obj))
    for member in obj.members.values():
        if not member.is_alias:
            _rewrite_all(member)


def _types(obj: griffe.Object) -> dict[str, str]:
    """Collect the types that a signature gives to parameters and attributes."""
    made = obj.members.get("__init__", obj)
    found = {
        name: member.annotation
        for name, member in obj.members.items()
        if isinstance(member, griffe.Attribute)
    }
    if isinstance(made, griffe.Function):
        found |= {parameter.name: parameter.annotation for parameter in made.parameters}
    return {name: str(annotation).removesuffix(" | None") for name, annotation in found.items()}


def rewrite(text: str, returned: str = "", types: Mapping[str, str] | None = None) -> str:
    """Give the sections of a docstring the form of numpydoc: prose, then sections, then examples.

    >>> print(rewrite("Sum.\\n\\nParameters\\n----------\\nx : a number\\n\\nOf all."))
    Sum.
    <BLANKLINE>
    Of all.
    <BLANKLINE>
    Parameters
    ----------
    x
        a number
    """
    prose: list[str] = []
    sections: list[str] = []
    examples: list[str] = []
    for block in _blocks(text):
        if len(block) > 1 and _RULE.fullmatch(block[1].strip()):
            said = [_stars(line) for line in block[2:]]
            sections += [*block[:2], *_section(block[0].strip(), said, returned, types or {}), ""]
        elif sections and (examples or block[0].startswith(">>>")):
            examples += [*block, ""]
        elif block[0].startswith(">>>"):
            prose += ["```pycon", *block, "```", ""]
        else:
            prose += [*(line if line.startswith("    ") else _stars(line) for line in block), ""]
    if examples:
        sections += ["Examples", "--------", *examples]
    return "\n".join([*prose, *sections]).strip()


def _stars(line: str) -> str:
    """Keep the stars of formulas, m* and p_x*, from being read as emphasis.

    >>> _stars("at least m*, `x*`, *never* less"), _stars("at least m*, `x*`")
    ('at least m*, `x*`, *never* less', 'at least m\\\\*, `x*`')
    """
    if _EMPHASIS.search(line):
        return line
    parts = line.split("`")
    return "`".join(_STAR.sub(r"\\*", part) if place % 2 == 0 else part for place, part in enumerate(parts))


def _blocks(text: str) -> list[list[str]]:
    """Cut a text at its empty lines."""
    return [block.split("\n") for block in re.split(r"\n(?:[ \t]*\n)+", text.strip("\n"))]


def _section(name: str, lines: list[str], returned: str, types: Mapping[str, str]) -> list[str]:
    if name in ("Parameters", "Attributes"):
        return [line for entry in _entries(lines) for line in _named(entry, types)]
    if name == "Returns":
        return _result(lines, returned)
    return lines


def _entries(lines: list[str]) -> list[list[str]]:
    """Group the lines of a section: each entry begins at the margin."""
    entries: list[list[str]] = []
    for line in lines:
        if entries and line.startswith(" "):
            entries[-1].append(line)
        else:
            entries.append([line])
    return entries


def _named(entry: list[str], types: Mapping[str, str]) -> list[str]:
    names, _, said = entry[0].partition(" : ")
    if said.removesuffix(", optional") == types.get(names.split(", ")[0]):
        said = ""  # the signature says it
    more = [line.strip() for line in entry[1:]]
    if said and more and len(entry[0]) < _WRAPPED and not said.endswith((".", ";", ":", ",")):
        said += ";" if more[0][0].islower() else "."
    told = [line for line in (said, *more) if line]
    return [names, *(f"    {line}" for line in told)]


def _result(lines: list[str], returned: str) -> list[str]:
    """The type at the margin, and everything else below it."""
    first = lines[0].strip() if lines else ""
    if not returned or first == returned:
        return lines
    rest = first.removeprefix(returned).lstrip(" ,;.") if first.startswith(returned) else first
    return [returned, *(f"    {line.strip()}" for line in (rest, *lines[1:]) if line.strip())]
