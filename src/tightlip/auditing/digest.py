"""A fingerprint of the counts behind an audit, to tell whether a later one is about the same table."""

from __future__ import annotations

import hashlib
import json

from tightlip.auditing.counted import Counted


def counts_digest(counted: Counted) -> str:
    """SHA-256 of the table of counts, whatever the order of its rows.

    Each secret that occurs in a cell is a line, the JSON array [secret values…, released values…, number of rows]
    with null for missing values and everything outside ASCII escaped. The lines are sorted and end with a line feed.

    Who can guess the whole table can check the guess with this number, so it is as confidential as the counts.
    """
    tally = counted.tally
    secrets = [json.dumps(counted.secret_label(place))[1:-1] for place in range(tally.shape[0])]
    cells = [json.dumps(counted.cell_label(place))[1:-1] for place in range(tally.shape[1])]
    triples = zip(tally.secret.tolist(), tally.cell.tolist(), tally.count.tolist(), strict=True)
    lines = sorted(f"[{secrets[secret]}, {cells[cell]}, {count}]\n" for secret, cell, count in triples)
    return hashlib.sha256("".join(lines).encode("ascii")).hexdigest()
