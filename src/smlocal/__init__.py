"""smlocal: run a SageMaker training container here exactly as the service would.

`run`, `plan` and `TrainingJob` are the Python API, `errors` has what it raises. Importing this imports nothing else.
"""

from __future__ import annotations

import sys

if sys.version_info < (3, 11):  # noqa: UP036 - pip does not ask about a checkout, and macOS's own Python is 3.9
    raise ImportError(
        "smlocal needs Python 3.11 or newer, and {} is Python {}.{}".format(sys.executable, *sys.version_info)
    )

TYPE_CHECKING = False  # as in `typing`, which takes longer to import than all the rest
if TYPE_CHECKING:
    from typing import Any

    from smlocal import errors as errors
    from smlocal.api.run import plan as plan
    from smlocal.api.run import run as run
    from smlocal.api.training_job import TrainingJob as TrainingJob

__all__ = ["TrainingJob", "errors", "plan", "run"]


def __getattr__(name: str) -> Any:
    """Import a requested name, and only then."""
    from importlib import import_module

    places = {"run": "smlocal.api.run", "plan": "smlocal.api.run", "TrainingJob": "smlocal.api.training_job"}
    if name in places:
        return getattr(import_module(places[name]), name)
    if name == "errors":
        return import_module("smlocal.errors")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """For completion: includes modules that are not imported yet."""
    return sorted({*globals(), *__all__})
