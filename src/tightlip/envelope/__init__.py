"""What survives any post-processing: the PML envelope, exact and proved, and its relatives."""

from tightlip.callable_package import call_as

call_as(__name__, "tightlip.envelope.exact", "envelope")
