"""Regular expressions that are compiled when they are first used: most commands use few of those in their modules."""

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from re import compile as regex
else:

    class regex:  # noqa: N801 - it stands for the function
        """As `re.compile`, for a name of a module. Use its methods; the functions of `re` do not take it."""

        def __init__(self, pattern: Any, flags: int = 0) -> None:
            self._given = pattern, flags

        def __getattr__(self, name: str) -> Any:
            if name.startswith("__"):
                raise AttributeError(name)
            compiled = re.compile(*self._given)
            # The methods that are used are found without this function from now on.
            for each in ("fullmatch", "match", "search", "sub", "subn", "finditer", "findall", "split", "pattern"):
                setattr(self, each, getattr(compiled, each))
            return getattr(compiled, name)


__all__ = ["regex"]
