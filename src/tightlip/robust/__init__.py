"""Leakage when the prior is only known to lie in a set, with the prior that reaches it."""

from __future__ import annotations

from tightlip.measures.capacity import allowed_zeros
from tightlip.model.prior import PriorSet
from tightlip.model.prior_set import PriorBall, PriorList, PriorPolytope
from tightlip.robust.certificate import ListCertificate, RegionCertificate, RobustCertificate
from tightlip.robust.envelope_search import envelope
from tightlip.robust.leakage_certificate import LeakageCertificate
from tightlip.robust.pointwise import leakage_capacity, maximal_leakage, pmc
from tightlip.robust.result import RobustEnvelope, RobustLeakage

__all__ = [
    "LeakageCertificate",
    "ListCertificate",
    "PriorBall",
    "PriorList",
    "PriorPolytope",
    "PriorSet",
    "RegionCertificate",
    "RobustCertificate",
    "RobustEnvelope",
    "RobustLeakage",
    "allowed_zeros",
    "envelope",
    "leakage_capacity",
    "maximal_leakage",
    "pmc",
]
