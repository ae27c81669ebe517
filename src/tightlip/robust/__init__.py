"""Leakage when the prior is known only to lie in a set: the worst prior, with proofs."""
