"""Proofs that can be checked again, in rational arithmetic and without a solver."""
