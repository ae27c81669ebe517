"""When a report was made: by the clock, or as the environment says."""

import re

import pytest

from tightlip.errors import InvalidInput
from tightlip.report.audit_record import now


def test_the_environment_takes_the_place_of_the_clock(monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "86399")
    assert now() == "1970-01-01T23:59:59Z"


@pytest.mark.parametrize("given", [None, ""])
def test_the_clock_is_in_utc(monkeypatch, given):
    monkeypatch.delenv("SOURCE_DATE_EPOCH", raising=False)
    if given is not None:
        monkeypatch.setenv("SOURCE_DATE_EPOCH", given)
    monkeypatch.setenv("TZ", "Pacific/Kiritimati")
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", now())


@pytest.mark.parametrize("given", ["soon", "1.5", "9" * 30])
def test_other_times_are_refused(monkeypatch, given):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", given)
    with pytest.raises(InvalidInput, match="SOURCE_DATE_EPOCH must be a whole number of seconds"):
        now()
