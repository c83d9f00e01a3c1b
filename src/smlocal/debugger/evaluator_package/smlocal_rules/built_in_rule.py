"""The base of all built-in rules."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from smlocal_rules.tensors import Tensors


@dataclass(frozen=True, kw_only=True)
class BuiltInRule:
    """A rule of the service, made again from its documentation. Its fields are its documented parameters.

    The state that it keeps from step to step is in fields that are not parameters.
    """

    TABLE_1: ClassVar[tuple[str, ...]] = ()
    """Its rows in Table 1 of the paper."""
    DECISIONS: ClassVar[str] = ""
    """Behavior where the guide is silent, or differs from the paper: a list in Markdown."""

    def judge(self, tensors: "Tensors") -> str | None:
        """Why the condition is met at this step; None if it is not."""
        raise NotImplementedError  # StalledTrainingRule looks at the clock instead, and is never asked

    def not_judged(self) -> str | None:
        """Why nothing was judged by the end of the data, though there were tensors; None if something was."""
        return None
