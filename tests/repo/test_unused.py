"""Code that no other code of smlocal uses is not in the wheel: it is in tests/ or scripts/, with its user."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parents[2] / "src" / "smlocal"
FOR_OTHERS = {
    "pytest_addoption": "pytest calls it",
    "_READY_BEFORE": "modules that are imported before a job needs them",
}
"""Names with the reason why nothing here uses them. A platform's generated models are left out: others publish them."""


def dotted(path: Path) -> str:
    return ".".join(path.relative_to(SOURCE.parent).with_suffix("").parts).removesuffix(".__init__")


def used_names(module: str, tree: ast.Module, modules: set[str]) -> Iterator[tuple[str, str]]:
    """Module and name; an empty module for names of modules that are imported by a text."""
    aliases: dict[str, str] = {}
    nodes = list(ast.walk(tree))
    for node in nodes:
        if isinstance(node, ast.ImportFrom):
            for alias in node.names:
                yield node.module or "", alias.name
                if f"{node.module}.{alias.name}" in modules:
                    aliases[alias.asname or alias.name] = f"{node.module}.{alias.name}"
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            yield module, node.id
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):  # quoted annotations, and doors of others
            yield from (("" if ":" in node.value else module, word) for word in re.findall(r"\w+", node.value))
    for node in nodes:
        if isinstance(node, ast.Attribute):
            owner = node.value.id if isinstance(node.value, ast.Name) else ""
            yield aliases.get(owner, ""), node.attr


def own_names(tree: ast.Module) -> Iterator[str]:
    """The names of functions, classes and constants. Names with a decorator may be used by that."""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            if all("dataclass" in (text := ast.unparse(each)) or text in _KEEPERS for each in node.decorator_list):
                yield node.name
        elif isinstance(node, ast.Assign):
            yield from (each.id for each in node.targets if isinstance(each, ast.Name))
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            yield node.target.id


_KEEPERS = {"cache", "contextmanager", "final", "unique"}


@pytest.mark.slow(5)
def test_every_name_is_used_by_smlocal_itself() -> None:
    trees = {
        dotted(path): ast.parse(path.read_text(encoding="utf-8"))
        for path in SOURCE.rglob("*.py")
        if not {"container_package", "evaluator_package"} & {*path.parts}
    }
    used = {pair for module, tree in trees.items() for pair in used_names(module, tree, {*trees})}
    unused = [
        f"{module}.{name}"
        for module, tree in sorted(trees.items())
        for name in own_names(tree)
        if not {(module, name), ("", name)} & used and not name.startswith("__") and ".model." not in module
    ]
    assert [each for each in unused if each.rpartition(".")[2] not in FOR_OTHERS] == []
    assert {each.rpartition(".")[2] for each in unused} == {*FOR_OTHERS}, "an exception that is not needed"
