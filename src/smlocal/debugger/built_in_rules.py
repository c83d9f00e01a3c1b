"""The names of the built-in rules. They are in the package of the evaluator, which is not imported here."""

import os
import runpy

_REGISTRY = os.path.join(
    os.path.dirname(os.path.abspath(__file__)), "evaluator_package", "smlocal_rules", "registry.py"
)


def built_in_rules() -> tuple[str, ...]:
    """Those that are evaluated."""
    return tuple(runpy.run_path(_REGISTRY)["BUILT_IN"])


def recorded_rules() -> tuple[str, ...]:
    """Those of the service that are recorded only."""
    names = runpy.run_path(_REGISTRY)
    return (*sorted(names["REPORT_RULES"]), *sorted(names["PROFILER_RULES"]))
