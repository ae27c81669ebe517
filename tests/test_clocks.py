"""No answer depends on how fast the machine is unless it says so: who reads the clock, and for what."""

import re
from pathlib import Path

import tightlip

ALLOWED = {
    "cli/interrupt.py",  # how long an interrupted program may take to end
    "ledger/store.py",  # when an entry was made; nothing is decided by it
    "report/audit_record.py",  # the date of a report
    "cli/output.py",  # when a bar appears
    "page/jobs.py",  # how long work has taken, for who waits
    "numeric/linear_program.py",  # when a solver that was told to stop and does not look up is left alone
    "numeric/deadline.py",  # how long a search may take; what it finds says whether it was stopped, and its gap
    "statistic/work.py",  # time_limit, where one was given
}
CLOCK = re.compile(
    r"^\s*(import time\b|from time import|from datetime import|import datetime\b)", re.MULTILINE
)
KINDS = {  # dates as values of a table
    "table/cells.py",
    "table/condition.py",
    "table/frame.py",
    "table/statistics_file.py",
    "table/workbook.py",
}


def test_who_reads_the_clock():
    root = Path(tightlip.__file__).parent
    found = {
        path.relative_to(root).as_posix()
        for path in root.rglob("*.py")
        if CLOCK.search(path.read_text(encoding="utf-8"))
    }
    assert found <= ALLOWED | KINDS
