"""Tables of any engine behind one interface: a planned release in, grouped counts and per-record risks out.

    failure    one clear line when an engine fails or is not installed
    kinds      which column types there are, and which columns are refused
    embedded, csv_file, csv_kinds, parquet_file, frame   what of a file or frame is trusted, and what is refused
    source     open a file, a database, a data frame or an Ibis table
    recoding   what is released of one column: as it is, prefixes, coded ends, bins, nothing
    mapping    values replaced by groups, hierarchies
    chain      several recodings in a row
    scale      whether values have an order, or distances
    mechanism  random changes of a released value
    condition  which rows count
    budget     what is allowed, about which secrets
    policy     the whole planned release
    plan, policy_file, flags   the same from keywords, TOML and a command line
    counts     how many rows have each secret in each released cell, or each combination of values
    rows       rows streamed with what was found for their groups
    risk       results joined back to the rows
    local      what is published for each cell, cell by cell
    chance     kernels from cells to published values: drawn exactly, and checked
    forms, rereading, publish   the written release: its files, what they must read back as, and its rows

The engine counts and joins. Rows never come to Python, except one batch at a time on their way into a file of
risks or a written release.
"""

from __future__ import annotations

from tightlip.table.chain import Chain
from tightlip.table.condition import Condition
from tightlip.table.counts import count_cells
from tightlip.table.mapping import Mapping
from tightlip.table.mechanism import ChannelMechanism, ColumnMechanism, RandomizedResponse
from tightlip.table.policy import Policy, Released, Secret
from tightlip.table.policy_file import policy_toml
from tightlip.table.recoding import Bins, BottomCode, Keep, Prefix, Suppress, TopCode
from tightlip.table.risk import write_risks
from tightlip.table.source import Table, open_table

__all__ = [
    "Bins",
    "BottomCode",
    "Chain",
    "ChannelMechanism",
    "ColumnMechanism",
    "Condition",
    "Keep",
    "Mapping",
    "Policy",
    "Prefix",
    "RandomizedResponse",
    "Released",
    "Secret",
    "Suppress",
    "Table",
    "TopCode",
    "count_cells",
    "open_table",
    "policy_toml",
    "write_risks",
]
