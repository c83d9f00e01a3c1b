"""Names that few jobs use: their modules are imported at first use.

    if TYPE_CHECKING:
        from smlocal.jobs.host.remote_volumes import fill_volumes
    else:
        fill_volumes = at_use("smlocal.jobs.host.remote_volumes", "fill_volumes")

It stands with other imports, so readers, type checkers and the test of the rooms see what a module needs. A class can
be called and used in annotations. In `except` and `isinstance`, use its module:
`at_use("ctypes")`. A job that does nothing takes 103 ms of processor time with it, and 111 without.
"""

from collections.abc import Iterator
from importlib import import_module
from typing import Any


class _AtUse:
    __slots__ = ("_module", "_name")

    def __init__(self, module: str, name: str) -> None:
        self._module = module
        self._name = name

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        return _found(self._module, self._name)(*arguments, **keywords)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # `staticmethod` and others ask for these, and do without
            raise AttributeError(name)
        return getattr(_found(self._module, self._name), name)

    def __iter__(self) -> Iterator[Any]:
        return iter(_found(self._module, self._name))

    def __or__(self, _: object) -> "_AtUse":
        """As in an annotation, which nobody reads while the program runs."""
        return self

    __ror__ = __or__


def at_use(module: str, name: str = "") -> Any:
    """A stand-in for something in a module, or for the module."""
    return _AtUse(module, name)


def _found(module: str, name: str) -> Any:
    found = import_module(module)
    return getattr(found, name) if name else found
