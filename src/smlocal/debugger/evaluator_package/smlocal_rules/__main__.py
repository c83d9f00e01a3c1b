"""`python -m smlocal_rules CONFIGURATION.json`: evaluate one rule.

smdebug imports pandas for its profiler, which takes a third of the time until a rule begins. Here it is imported
when it is used.
"""

import importlib
import sys
from types import ModuleType
from typing import Any


class _WhenUsed(ModuleType):
    """Stands for a module until something of it is needed."""

    def __getattr__(self, name: str) -> Any:
        if sys.modules.get(self.__name__) is self:
            del sys.modules[self.__name__]
        return getattr(importlib.import_module(self.__name__), name)


if __name__ == "__main__":
    sys.modules["pandas"] = _WhenUsed("pandas")
    from smlocal_rules.evaluate import main

    raise SystemExit(main())
