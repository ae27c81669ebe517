"""A package that shares its name with its main function can be called as that function.

Importing any part of such a package makes the name in `tightlip` mean the package.
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import Any


def call_as(package: str, home: str, name: str) -> None:
    """Let `package(…)` mean the function `name` of the module `home`."""

    class CallablePackage(ModuleType):
        def __call__(self, *arguments: Any, **options: Any) -> Any:
            return getattr(import_module(home), name)(*arguments, **options)

    sys.modules[package].__class__ = CallablePackage
