"""The names of the rules."""

import ast
import importlib
from pathlib import Path

import pytest
from smlocal_rules import registry
from smlocal_rules.built_in_rule import BuiltInRule

PACKAGE = Path(registry.__file__).parent
TABLE_1 = {
    "Class imbalance",
    "Not normalized data",
    "Ratio of tokens in sequence",
    "Loss not decreasing",
    "Overfitting",
    "Underfitting",
    "Overtraining",
    "Classifier confusion",
    "Poor initialization",
    "Updates too small",
    "Vanishing (gradients)",
    "Exploding (gradients)",
    "All values zero",
    "Variance of values too small",
    "Values not changing across steps",
    "Tanh saturation",
    "Sigmoid saturation",
    "Dying ReLU",
    "Depth of tree too large",
    "Low feature importance",
}


def rules() -> list[type[BuiltInRule]]:
    return [
        getattr(importlib.import_module(f"smlocal_rules.rules.{module}"), name)
        for name, module in registry.BUILT_IN.items()
    ]


def test_every_module_is_a_rule() -> None:
    modules = {path.stem for path in (PACKAGE / "rules").glob("*.py")} - {"__init__"}
    assert sorted(registry.BUILT_IN.values()) == sorted(modules)
    assert all(issubclass(rule, BuiltInRule) for rule in rules())


def test_every_row_of_the_papers_table_has_one_rule() -> None:
    rows = [row for rule in rules() for row in rule.TABLE_1]
    assert sorted(rows) == sorted(TABLE_1)


@pytest.mark.parametrize("path", sorted(PACKAGE.rglob("*.py")), ids=lambda path: path.stem)
def test_nothing_of_smlocal_is_imported(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    names = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    names |= {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert "smlocal" not in {name.partition(".")[0] for name in names}


def test_the_names_can_be_read_without_any_package() -> None:
    tree = ast.parse((PACKAGE / "registry.py").read_text(encoding="utf-8"))
    assert not [node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)]
