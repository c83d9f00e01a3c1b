"""The descriptions of the built-in rules, read from their classes without importing them."""

import ast
import os
import runpy
from collections.abc import Mapping

_PACKAGE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "evaluator_package", "smlocal_rules")


def rule_modules() -> Mapping[str, str]:
    """The module of each built-in rule that is evaluated, by the rule's name."""
    modules: Mapping[str, str] = runpy.run_path(os.path.join(_PACKAGE, "registry.py"))["BUILT_IN"]
    return modules


def rule_text(name: str) -> str:
    """The description of a rule, in paragraphs: the documentation of its class."""
    with open(os.path.join(_PACKAGE, "rules", f"{rule_modules()[name]}.py"), encoding="utf-8") as file:
        tree = ast.parse(file.read())
    [found] = [each for each in tree.body if isinstance(each, ast.ClassDef) and each.name == name]
    return ast.get_docstring(found) or ""
