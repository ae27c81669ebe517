"""From one privacy guarantee to another, with the precondition checked.

    from \\ to   pml        pmc        lip        alip       ldp
    ldp         Prop. 1    Prop. 3    Prop. 1    Prop. 3    –
    pml         –          Thm 4.1 *  Cor. 3 *   Cor. 3 *   Cor. 3 *
    pmc         Thm 4.2    –          Cor. 3     Cor. 3     Cor. 3
    alip        definition, improved by Thm 4 where p_min is given
    lip         definition, improved by Thm 4 where p_min is given

    * needs ε < log 1/(1−p_min)

`implied` gives all of them at once, `compare` says which of a PML and a PMC level is the
stronger, `region` is the picture of it. Every result is in nats and rounded up. p_min may be
the prior itself; a lower bound on its masses is sound too. Theorem numbers are those of the
paper on pointwise maximal cost; `tightlip.convert._theory` has the derivations.

>>> from tightlip import log_of
>>> pml_to_ldp(log_of("10/9"), "1/5").ratio
Fraction(2, 1)
"""

from tightlip.convert.consequences import Implied, Reasons, implied
from tightlip.convert.figure import Curve, Region, compare, region
from tightlip.convert.from_ldp import ldp_to_alip, ldp_to_lip, ldp_to_pmc, ldp_to_pml
from tightlip.convert.from_lip import (
    alip_to_ldp,
    alip_to_lip,
    alip_to_pmc,
    alip_to_pml,
    lip_to_alip,
    lip_to_ldp,
    lip_to_pmc,
    lip_to_pml,
)
from tightlip.convert.from_pointwise import (
    pmc_to_alip,
    pmc_to_ldp,
    pmc_to_lip,
    pmc_to_pml,
    pml_to_alip,
    pml_to_ldp,
    pml_to_lip,
    pml_to_pmc,
)
from tightlip.numeric.quantity import Alip

__all__ = [
    "Alip",
    "Curve",
    "Implied",
    "Reasons",
    "Region",
    "alip_to_ldp",
    "alip_to_lip",
    "alip_to_pmc",
    "alip_to_pml",
    "compare",
    "implied",
    "ldp_to_alip",
    "ldp_to_lip",
    "ldp_to_pmc",
    "ldp_to_pml",
    "lip_to_alip",
    "lip_to_ldp",
    "lip_to_pmc",
    "lip_to_pml",
    "pmc_to_alip",
    "pmc_to_ldp",
    "pmc_to_lip",
    "pmc_to_pml",
    "pml_to_alip",
    "pml_to_ldp",
    "pml_to_lip",
    "pml_to_pmc",
    "region",
]
