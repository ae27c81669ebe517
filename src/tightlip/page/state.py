"""The state of the page is its address: what is said in the steps, as a query, a plan, a command line and a policy.

table=patients.csv&secret=disease&how:age=bins&size:age=10&budget=3x
"""

from __future__ import annotations

import hashlib
import re
import shlex
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote, urlencode

from tightlip.errors import InvalidInput, quoted
from tightlip.table.condition import listed_values
from tightlip.table.flags import keywords, policy_flags
from tightlip.table.plan import planned
from tightlip.table.policy import Policy
from tightlip.table.policy_file import policy_toml

SINGLE = ("table", "name", "policy", "budget", "ledger", "min_count", "chance", "seconds")
SEVERAL = ("secret", "where", "against")
OF_COLUMN = ("values", "notsecret", "missing", "how", "size", "top")
HOW = ("as is", "bins", "prefix", "top", "bottom", "randomize")
_ODD = re.compile(r"[\x00-\x1f\x7f%\u2028\u2029]")
_DIGITS = 18  # of a whole number; no table has more people
_MOST = 20_000  # entries of an address; a table has fewer columns


def token(name: str) -> str:
    r"""Write a name so that a form sends it back as it is; forms change ends of lines.

    >>> token("a b"), token("a\nb"), from_token(token("50%\r"))
    ('a b', 'a%0Ab', '50%\r')
    """
    return _ODD.sub(lambda found: quote(found.group()), name)


def from_token(text: str) -> str:
    """Read a name that a form sends back."""
    return unquote(text)


@dataclass(frozen=True, slots=True)
class State:
    """What was said in the steps so far.

    Attributes
    ----------
    single : table, name, policy, budget, ledger, min_count, chance and seconds, where given
    several : secret columns, conditions, and plans to put beside
    of_column : by setting, then by column: sensitive values, values that are no secret, codes that mean missing, how
        the column is published, with which number, and from where on values are one
    """

    single: Mapping[str, str] = field(default_factory=dict)
    several: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    of_column: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    @classmethod
    def read(cls, items: Iterable[tuple[str, str]]) -> State:
        """Read a query or a form; what is empty, or no part of a state, is left out."""
        single: dict[str, str] = {}
        several: dict[str, dict[str, None]] = {key: {} for key in SEVERAL}
        of_column: dict[str, dict[str, str]] = {key: {} for key in OF_COLUMN}
        for place, (key, given) in enumerate(items):
            text, (setting, colon, column) = given.strip(), key.partition(":")
            if not text or place >= _MOST:
                continue
            if key in SINGLE:
                single[key] = text
            elif key in SEVERAL:
                several[key][from_token(given) if key == "secret" else text] = None
            elif colon and setting in OF_COLUMN and column:
                of_column[setting][from_token(column)] = text
        return cls(
            single,
            {key: tuple(own) for key, own in several.items() if own},
            {key: own for key, own in of_column.items() if own},
        )

    def get(self, key: str) -> str:
        """What was said; empty where nothing was."""
        return self.single.get(key, "")

    def listed(self, key: str) -> tuple[str, ...]:
        """All that was said."""
        return self.several.get(key, ())

    def about(self, setting: str, column: str) -> str:
        """What was said of a column."""
        return self.of_column.get(setting, {}).get(column, "")

    def items(self, *without: str) -> list[tuple[str, str]]:
        """Everything as pairs of a form, in one order; settings in `without` are left out."""
        pairs = [(key, self.single[key]) for key in SINGLE if key in self.single]
        pairs += [("secret", token(name)) for name in self.listed("secret")]
        pairs += [(key, text) for key in SEVERAL[1:] for text in self.listed(key)]
        for setting in OF_COLUMN:
            own = self.of_column.get(setting, {})
            pairs += [(f"{setting}:{token(column)}", own[column]) for column in own]
        return [(key, text) for key, text in pairs if key.partition(":")[0] not in without]

    def query(self, **changes: str) -> str:
        """Write it as the query of an address."""
        return urlencode(self.change(**changes).items() if changes else self.items())

    def change(self, **changes: str) -> State:
        """Say something else in single settings; what is empty is left out."""
        single = {**self.single, **changes}
        return replace(self, single={key: text for key, text in single.items() if text})

    @property
    def digest(self) -> str:
        """What tells this state from others."""
        return hashlib.sha256(repr(sorted(self.items())).encode()).hexdigest()[:20]

    @property
    def released(self) -> tuple[str, ...]:
        """The columns that are published."""
        return tuple(self.of_column.get("how", {}))

    def plan(self, base: Policy | None, inside: Callable[[str], Path], *, budget: bool = True) -> Policy:
        """Plan the release that was said, which adds to a policy file where one was named.

        Parameters
        ----------
        base : the policy file
        inside : finds a file that is named, or refuses it
        budget : whether the plan has that of the state

        Raises
        ------
        InvalidInput
            When what was said is no plan yet, or does not fit together.
        """
        if base is None and not (self.listed("secret") and self.released):
            raise InvalidInput(
                "a secret column and a published column must be chosen, got none; go back a step."
            )
        named: list[Any] = []
        for column in self.listed("secret"):
            values = self.about("values", column)
            named.append({column: listed_values(values, "sensitive values")} if values else column)
        options: dict[str, Any] = self._recodings(inside) | keywords(where=list(self.listed("where")) or None)
        options |= {"missing": self._codes("missing") or None, "not_secret": self._not_secret() or None}
        if self.get("min_count"):
            options["min_count"] = _whole(self.get("min_count"), "the fewest people")
        if budget and self.get("budget"):
            options["budget"] = _budget(self.get("budget"))
        return planned(named or None, list(self.released) or None, base, **options)

    def _codes(self, setting: str) -> dict[str, list[str]]:
        own = self.of_column.get(setting, {})
        return {column: listed_values(text, "values") for column, text in own.items()}

    def _not_secret(self) -> list[Any]:
        codes = self._codes("notsecret")
        return [{column: codes[column]} for column in self.listed("secret") if column in codes]

    def _recodings(self, inside: Callable[[str], Path]) -> dict[str, Any]:
        """The recodings as `planned` takes them."""
        found: dict[str, dict[str, Any]] = {}
        for column, how in self.of_column.get("how", {}).items():
            if how not in HOW:
                raise InvalidInput(
                    f"how column {quoted(column)} is published must be one of {', '.join(HOW)}, got {quoted(how)}."
                )
            if how != "as is":
                given = self.about("size", column)
                read = _mechanism(given, inside) if how == "randomize" else _numbers(column, given)
                found.setdefault(how, {})[column] = read
            if self.about("top", column) and how != "top":
                found.setdefault("top", {})[column] = _numbers(column, self.about("top", column))
        return found

    def command(self, plan: Policy | None, verb: str, table: str, *more: str) -> str:
        """Write the command line that does the same."""
        ledger = self.get("ledger")
        shown = plan if plan is None or not ledger else replace(plan, budget=(), delta=None)
        flags = None if shown is None or self.get("policy") else policy_flags(shown)
        words = ["tightlip", *verb.split(), table]
        words += ["--table", self.get("name")] if self.get("name") else []
        words += ["--policy", "plan.toml"] if flags is None or verb == "release table" else flags
        words += ["--ledger", ledger] if ledger else []
        if verb == "protect":
            words += ["--randomised"] if self.get("chance") else []
            words += ["--seconds", self.get("seconds")] if self.get("seconds") else []
        return shlex.join([*words, *more])


def policy_text(plan: Policy, folder: Path) -> str:
    """Write a plan as a policy file."""
    return policy_toml(plan, folder)


def _budget(text: str) -> Any:
    from tightlip.numeric.budget import Allowed

    return Allowed.read(text, "budget", bare=False).given


def _whole(text: str, argument: str) -> int:
    if not text.isdecimal() or len(text) > _DIGITS:
        raise InvalidInput(f"{argument} must be a whole number, got {quoted(text)}; write 10.")
    return int(text)


def _mechanism(text: str, inside: Callable[[str], Path]) -> Any:
    """A level of randomised response, or the file of a mechanism."""
    name = text.removeprefix("channel ").strip()
    return inside(name) if name.endswith(".json") or name != text else text


def _numbers(column: str, text: str) -> Any:
    """One number, or several with commas between them."""
    found = keywords(bins=[f"x={text}"]) if text else {}
    if not found:
        raise InvalidInput(f"a number must be given for column {quoted(column)}, got none; write 10.")
    return found["bins"]["x"]
