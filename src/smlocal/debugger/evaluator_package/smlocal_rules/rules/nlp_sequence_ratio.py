"""How much of the input sequences is a certain token."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from smlocal_rules.built_in_rule import BuiltInRule
from smlocal_rules.failures import ParameterError
from smlocal_rules.parameters import Patterns, numbers, parameter, patterns

if TYPE_CHECKING:
    from smlocal_rules.tensors import Array, Tensors


def percentage_of_token(sequences: "Array", token: float) -> float:
    """How many of 100 tokens are this one."""
    return float(100 * np.mean(sequences == token))


@dataclass(frozen=True, kw_only=True)
class NLPSequenceRatio(BuiltInRule):
    """Too much of the input sequences is a certain token, for example padding or the one for unknown words."""

    TABLE_1: ClassVar = ("Ratio of tokens in sequence",)
    DECISIONS: ClassVar = """
    - In PyTorch, the input of an embedding is named after its attribute: `embedding_input_0`. If no tensor
      matches the documented `tensor_regex`, inputs of layers with `embed` in their name are judged.
    """

    tensor_regex: Patterns = parameter(
        Patterns((".*embedding0_input_0",), (r"(?i)embed\w*_input_0$",)), patterns, "Names of the inputs of embeddings."
    )
    token_values: tuple[float, ...] = parameter((0.0,), numbers, "The tokens to count, with commas between them.")
    token_thresholds_percent: tuple[float, ...] = parameter(
        (50.0,), numbers, "For each token, the percentage of the tokens of a batch that it may have."
    )

    def __post_init__(self) -> None:
        if len(self.token_values) != len(self.token_thresholds_percent):
            text = (
                f"NLPSequenceRatio: {len(self.token_values)} token_values and {len(self.token_thresholds_percent)} "
                "token_thresholds_percent are given; there must be one for each."
            )
            raise ParameterError(text)

    def judge(self, tensors: "Tensors") -> str | None:
        """The first token that is too frequent."""
        for name, sequences in tensors.values(tensors.matching(self.tensor_regex)):
            for token, threshold in zip(self.token_values, self.token_thresholds_percent, strict=True):
                percentage = percentage_of_token(sequences, token)
                if percentage > threshold:
                    return f"{percentage:g} % of {name} is token {token:g}"
        return None
