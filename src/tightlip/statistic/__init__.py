"""Statistic maximal leakage: what a release tells about a secret that is a statistic of what went in."""
