"""What survives any post-processing: the PML envelope, exact and proved, and its relatives.

The package and the function `tightlip.envelope` share a name, and importing any part of the package makes the
name mean the package; so the package can be called as the function.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any


class _CallablePackage(ModuleType):
    def __call__(self, *arguments: Any, **options: Any) -> Any:
        from tightlip.envelope.exact import envelope

        return envelope(*arguments, **options)


sys.modules[__name__].__class__ = _CallablePackage
