"""A name that is imported at its first use stands for a function or a class only where it is called or annotated."""

import ast
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parents[2] / "src" / "smlocal"
_ASK_FOR_A_CLASS = {"isinstance", "issubclass", "suppress"}


def stand_ins(tree: ast.AST) -> set[str]:
    """The names that a module declares by `at_use`."""
    return {
        target.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call)
        if isinstance(node.value.func, ast.Name) and node.value.func.id == "at_use"
        for target in node.targets
        if isinstance(target, ast.Name)
    }


def asked_for_a_class(tree: ast.AST) -> Iterator[str]:
    """Names where Python wants a class itself: in `except`, as a base, in `isinstance` and the like."""
    for node in ast.walk(tree):
        wanted: Sequence[ast.expr | None]
        if isinstance(node, ast.ExceptHandler):
            wanted = [node.type]
        elif isinstance(node, ast.ClassDef):
            wanted = node.bases
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _ASK_FOR_A_CLASS:
            wanted = node.args[node.func.id != "suppress" :]
        else:
            continue
        for each in wanted:
            for part in [*each.elts] if isinstance(each, ast.Tuple) else [each]:
                if isinstance(part, ast.Name):
                    yield part.id


def read_at_once(tree: ast.AST) -> Iterator[str]:
    """Names whose members are in annotations: Python reads those of functions while it imports the module."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            arguments = node.args
            each = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg]
            annotations = [node.returns, *(argument.annotation for argument in each if argument is not None)]
            for part in (part for one in annotations if one is not None for part in ast.walk(one)):
                if isinstance(part, ast.Attribute) and isinstance(part.value, ast.Name):
                    yield part.value.id


@pytest.mark.slow(0.5)
def test_no_stand_in_is_where_a_class_is_wanted_or_its_module_is_imported_at_once() -> None:
    found = {}
    for path in SOURCE.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        if "at_use(" in text:
            tree = ast.parse(text)
            found[str(path)] = stand_ins(tree) & {*asked_for_a_class(tree), *read_at_once(tree)}
    assert len(found) > 1
    assert {name for name, wrong in found.items() if wrong} == set()


def test_wrong_places_are_seen() -> None:
    text = """
Late = at_use("a", "Late")
class Base(Late): ...
try:
    isinstance(1, (int, Other))
except (OSError, Third):
    pass
def read(name: part.Name, *, other: "text.Name") -> more.Name | None: ...
"""
    tree = ast.parse(text)
    assert stand_ins(tree) == {"Late"}
    assert {*asked_for_a_class(tree)} == {"Late", "int", "Other", "OSError", "Third"}
    assert {*read_at_once(tree)} == {"part", "more"}
