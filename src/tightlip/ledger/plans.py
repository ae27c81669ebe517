"""Plans as files of a ledger: a policy, what it names, and the recoding cell by cell that it may have.

A plan must outlive the files that it was read from, since what the next release gives away depends on it. So mappings
and channels are written out. It names values only where the plan itself does.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from tightlip.auditing.joint import Terms
from tightlip.errors import LedgerInvalid, TightlipError
from tightlip.files import passing_folder
from tightlip.table.policy import Policy

_PLAN = "plan.toml"
_NOTHING = "nothing"  # terms release nothing, but a policy file has a column


def pack(policy: Policy) -> dict[str, bytes]:
    """Write a plan as files, by name."""
    with passing_folder() as folder:
        policy.save(folder / _PLAN)
        return {file.name: file.read_bytes() for file in sorted(folder.iterdir())}


def unpack(files: Mapping[str, bytes]) -> Policy:
    """Read a plan that `pack` wrote.

    Raises
    ------
    LedgerInvalid
        When it cannot be read.
    """
    with passing_folder() as folder:
        for name, content in files.items():
            (folder / Path(name).name).write_bytes(content)
        try:
            policy = Policy.from_toml(folder / _PLAN)
        except TightlipError as error:
            raise LedgerInvalid(
                f"a plan in the ledger cannot be read: {error} It was made by another version of tightlip; use that."
            ) from error
    return policy if policy.local is None else replace(policy, local=replace(policy.local, path=None))


def pack_terms(terms: Terms) -> str:
    """Write terms as the text of a policy file that releases nothing.

    >>> print(pack_terms(Terms.of(Policy("ill", ["age"], budget="3x"))))
    secret = ["ill"]
    budget = "3x"
    <BLANKLINE>
    [release.nothing]
    suppress = true
    <BLANKLINE>
    """
    from tightlip.table.policy import Released
    from tightlip.table.policy_file import policy_toml
    from tightlip.table.recoding import Suppress

    own = {item.column for item in terms.secrets}
    name = next(_NOTHING + "_" * many for many in range(len(own) + 1) if _NOTHING + "_" * many not in own)
    return policy_toml(replace(terms.plan([name]), release=(Released(name, Suppress()),)))


def unpack_terms(text: str) -> Terms:
    """Read terms that `pack_terms` wrote."""
    return Terms.of(unpack({_PLAN: text.encode()}))
