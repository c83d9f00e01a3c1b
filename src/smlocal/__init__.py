"""smlocal: run a SageMaker training container here exactly as the service would.

`run`, `plan` and `TrainingJob` are the Python API, `errors` has what it raises. Importing this imports nothing else.
"""

from __future__ import annotations

import sys
from types import ModuleType

TYPE_CHECKING = False  # as in `typing`, which takes longer to import than all the rest
if TYPE_CHECKING:
    from typing import Any

    from smlocal import errors as errors
    from smlocal.api.run import plan as plan
    from smlocal.api.run import run as run
    from smlocal.api.training_job import TrainingJob as TrainingJob

__all__ = ["TrainingJob", "errors", "plan", "run"]


class _PlanRoom(ModuleType):
    """The package `smlocal.plan`, which can be called: the function has the same name."""

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        from smlocal.api import run

        return run.plan(*arguments, **keywords)


class _Package(ModuleType):
    """This package: whatever imports the room `plan` sets it as an attribute here."""

    def __setattr__(self, name: str, value: Any) -> None:
        if name == "plan" and isinstance(value, ModuleType):
            value.__class__ = _PlanRoom
        super().__setattr__(name, value)


def __getattr__(name: str) -> Any:
    """Import what is asked for, and only then."""
    from importlib import import_module

    places = {"run": "smlocal.api.run", "TrainingJob": "smlocal.api.training_job"}
    if name in places:
        return getattr(import_module(places[name]), name)
    if name in {"plan", "errors"}:
        return import_module(f"smlocal.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """For completion: also what is not imported yet."""
    return sorted({*globals(), *__all__})


sys.modules[__name__].__class__ = _Package
