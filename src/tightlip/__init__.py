"""tightlip tells you exactly what a data release gives away about a secret, proves it, and helps you give away less.

>>> import tightlip as tl
>>> channel = tl.Channel([[0.9, 0.1], [0.2, 0.8]], inputs=["ill", "well"], outputs=["+", "-"])
>>> tl.pml(channel, tl.Prior({"ill": 0.05, "well": 0.95}))
PML of 2 outcomes: worst 1.34281 nats at outcome + about secret ill

The names that one learns first are here, everything else in namespaces such as `tl.measures` and `tl.noise`.
Names are loaded when they are first used, so that importing the package stays cheap; `__init__.pyi` lists them, for
this file and for type checkers.
"""

import lazy_loader

__version__ = "0.1.0"

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
