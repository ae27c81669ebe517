"""Proofs that can be checked again without a solver: one class for each way of proving, and reading them from files."""

from __future__ import annotations

from tightlip.certificate.base import Certificate, Claim
from tightlip.certificate.envelope import EnvelopeCertificate
from tightlip.certificate.loading import load
from tightlip.certificate.ordered import OrderedCertificate
from tightlip.certificate.randomized_response import RandomizedResponseCertificate
from tightlip.certificate.recomputation import Recomputation
from tightlip.certificate.statistic import StatisticCertificate
from tightlip.certificate.statistic_map import MapCertificate

__all__ = [
    "Certificate",
    "Claim",
    "EnvelopeCertificate",
    "MapCertificate",
    "OrderedCertificate",
    "RandomizedResponseCertificate",
    "Recomputation",
    "StatisticCertificate",
    "load",
]
