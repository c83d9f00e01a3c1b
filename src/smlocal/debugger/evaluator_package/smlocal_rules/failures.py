"""Why a rule cannot be evaluated. Every one becomes the status Error with its sentence as StatusDetails."""

from collections.abc import Iterable
from difflib import get_close_matches


class RuleError(Exception):
    """A rule cannot be evaluated; the sentence says why and how to correct that."""


class UnknownRuleError(RuleError):
    """rule_to_invoke names no rule."""


class ParameterError(RuleError):
    """A parameter is unknown, or its value is not what the rule expects."""


class SourceError(RuleError):
    """The source file of a custom rule is missing, does not compile, or fails."""


class TensorError(RuleError):
    """A file with tensors cannot be read, or a tensor is not what the rule expects."""


def suggestion(wrong: str, names: Iterable[str]) -> str:
    """` Did you mean X?` for a name that is nearly one of these, and nothing otherwise."""
    by_lower = {name.lower(): name for name in names}
    close = get_close_matches(wrong.lower(), by_lower, n=1, cutoff=0.6)
    return f" Did you mean {by_lower[close[0]]}?" if close else ""
