"""What a planned release of a table gives away: from counted cells to findings, remedies and words."""

from tightlip.callable_package import call_as

call_as(__name__, "tightlip.audit.run", "audit")
