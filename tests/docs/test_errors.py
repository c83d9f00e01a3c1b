from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

from smlocal import errors

TABLE = Path(errors.__file__).parents[1] / "cli" / "errors.md"
"""What `smlocal help ID` shows, and the page of the site."""


def classes(base: type[errors.SmlocalError] = errors.SmlocalError) -> Iterator[type[errors.SmlocalError]]:
    yield base
    for below in base.__subclasses__():
        if below.__module__.startswith(errors.__name__):
            yield from classes(below)


def test_every_error_has_a_row_with_its_exit_code_and_every_row_is_an_error(
    rows: Callable[[str], list[list[str]]],
) -> None:
    table = rows(TABLE.read_text(encoding="utf-8"))
    # The classes that only group others have no id of their own and are never raised as such.
    groups = {errors.RequestRefusedError, errors.MachineNotReadyError}
    for module in iter_modules(errors.__path__):
        import_module(f"{errors.__name__}.{module.name}")
    known = sorted((error.id, str(error.exit_code)) for error in classes() if error not in groups)
    assert sorted((row[0].strip("`"), row[1]) for row in table) == known


def test_every_row_says_what_why_and_what_to_do(rows: Callable[[str], list[list[str]]]) -> None:
    for row in rows(TABLE.read_text(encoding="utf-8")):
        assert len(row) == 5, row
        assert all(row), row
