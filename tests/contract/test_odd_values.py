"""Values that try to be SQL, escapes or placeholders are counted, mapped and cut as they are on every engine."""

from collections import Counter

import pyarrow as pa

from contract.store import stored
from contract.warnings_of_engines import IGNORED
from tightlip.table.counts import count_cells
from tightlip.table.mapping import Mapping
from tightlip.table.policy import Policy, Released
from tightlip.table.recoding import Prefix
from tightlip.table.source import open_table

pytestmark = IGNORED

VALUES = [
    *("a'b", "a\\b", "a\\'b", "a''b", 'a"b', "%", "%%", "%s", "%(x)s", ":x", "?", "$1", "{x}", "a;--"),
    *("line\nend", "line\\nend", "\\u0041", "\\x41", "tab\tend", "A", "a", "a ", " a", "NULL", "null"),
    *("\u202eright", "\u200b", "😀x", "x😀", "é", "e\u0301", "ß", "ss", "İ", "ı", "=1+1", "--", "/*", "`"),
]
TABLE = pa.table({"job": VALUES, "ill": ["yes" if place % 2 else "no" for place in range(len(VALUES))]})


def counted(table, recoding) -> Counter:
    counts = count_cells(table, Policy("ill", [Released("job", recoding)] if recoding else ["job"]))
    found: Counter = Counter()
    for cell, count in zip(counts.cell_of, counts.count, strict=True):
        found[counts.cells[cell][0]] += int(count)
    return found


def test_odd_values_are_values(engine, request, tmp_path):
    half = VALUES[::2]
    groups = {value: f"<{value}>" for value in half}
    name = "values_odd" if engine == "postgres" else None
    with open_table(stored(engine, request, tmp_path, "values_odd", TABLE), table=name) as table:
        assert counted(table, None) == Counter(VALUES)
        assert counted(table, Prefix(2)) == Counter(value[:2] for value in VALUES)
        mapped = counted(table, Mapping(groups, otherwise="it's \\other"))
    assert mapped == Counter(groups.get(value, "it's \\other") for value in VALUES)
