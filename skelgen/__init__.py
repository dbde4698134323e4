"""Predict how long an MPI program takes on shared nodes by running its skeleton.

A recorded run becomes an execution signature, the signature a skeleton: a short
C/MPI program that takes 1/K of the application's time in any sharing scenario.

The commands are functions here as well: `record`, `info`, `build`, `calibrate`,
`predict`, `select`, `phases`, `measure`, `workload` and `export`. They are loaded when
they are first used.

References
----------
Sodhi and Subhlok, "Performance Prediction with Skeletons", 2005.
"""

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from skelgen.api import (
        build,
        calibrate,
        export,
        info,
        measure,
        phases,
        predict,
        record,
        select,
        workload,
    )

__all__ = [
    "__version__",
    "build",
    "calibrate",
    "export",
    "info",
    "measure",
    "phases",
    "predict",
    "record",
    "select",
    "workload",
]

__version__ = "0.1.0"


#: Commands that are also the names of packages.
_PACKAGES = frozenset({"export", "phases", "workload"})


class _CalledPackage(ModuleType):
    """A package that can be called, as the command of its name."""

    def __call__(self, *words: Any, **options: Any) -> Any:
        return getattr(_api(), self.__name__.rpartition(".")[2])(*words, **options)


class _Skelgen(ModuleType):
    """A package whose parts do not hide commands, as `skelgen.phases` would."""

    def __setattr__(self, name: str, value: Any) -> None:
        if name in _PACKAGES and isinstance(value, ModuleType):
            value.__class__ = _CalledPackage
        super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Skelgen


def _api() -> ModuleType:
    return import_module("skelgen.api")


def __getattr__(name: str) -> Any:
    """Load the functions when one of them is first asked for."""
    if name in _PACKAGES:
        return import_module(f"skelgen.{name}")
    if name in __all__:
        return getattr(_api(), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
