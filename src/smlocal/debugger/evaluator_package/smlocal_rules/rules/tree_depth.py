"""Trees of XGBoost that are too deep."""

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from smlocal_rules.built_in_rule import BuiltInRule
from smlocal_rules.parameters import Patterns, number, parameter

if TYPE_CHECKING:
    from smlocal_rules.tensors import Tensors

_NODES = Patterns((r"(^|/)trees/Node$",))


def depth_of(largest_node: int) -> int:
    """The depth of a tree whose nodes are numbered from 0, level by level."""
    return int(math.log2(largest_node)) if largest_node > 0 else 0


@dataclass(frozen=True, kw_only=True)
class TreeDepth(BuiltInRule):
    """A tree of an XGBoost model is deeper than a limit."""

    TABLE_1: ClassVar = ("Depth of tree too large",)
    DECISIONS: ClassVar = """
    - As in the guide, the depth is the logarithm to base 2 of the largest number of a node. It is rounded down: a
      full tree of depth 4 has the nodes 0 to 30, and does not exceed the default. A tree with few branches can be
      deeper than its numbers say.
    - The tensor is `trees/Node`, which the hook saves with the collection `trees`.
    """

    depth: float = parameter(4.0, number, "The largest depth that is allowed.")

    def judge(self, tensors: "Tensors") -> str | None:
        """The depth, if it is too large."""
        for name, nodes in tensors.values(tensors.matching(_NODES)):
            depth = depth_of(int(nodes.max()))
            if depth > self.depth:
                return f"the depth of the tree in {name} is {depth}"
        return None
