"""Parameters, which the API passes as strings."""

import math

import pytest
from smlocal_rules.failures import ParameterError
from smlocal_rules.parameters import Patterns, read_parameters
from smlocal_rules.rules.class_imbalance import ClassImbalance
from smlocal_rules.rules.confusion import Confusion
from smlocal_rules.rules.dead_relu import DeadRelu
from smlocal_rules.rules.exploding_tensor import ExplodingTensor
from smlocal_rules.rules.loss_not_decreasing import LossNotDecreasing
from smlocal_rules.rules.nlp_sequence_ratio import NLPSequenceRatio
from smlocal_rules.rules.unchanged_tensor import UnchangedTensor


def test_every_kind_is_read() -> None:
    given = {
        "collection_names": "losses, metrics",
        "tensor_regex": ".*a,b$",
        "use_losses_collection": "False",
        "num_steps": "20",
        "diff_percent": "0.5",
        "mode": "train",
    }
    rule = read_parameters(LossNotDecreasing, given)
    assert rule == LossNotDecreasing(
        collection_names=("losses", "metrics"),
        tensor_regex=Patterns((".*a", "b$")),
        use_losses_collection=False,
        num_steps=20,
        diff_percent=0.5,
        mode="TRAIN",
    )
    assert read_parameters(
        NLPSequenceRatio, {"token_values": "3, 0", "token_thresholds_percent": "50.0, 50.0"}
    ).token_values == (3, 0)
    assert read_parameters(ExplodingTensor, {"statistics": "min,mean"}).statistics == ("min", "mean")


def test_a_start_step_may_be_left_to_the_rule() -> None:
    assert read_parameters(Confusion, {"start_step": "50"}).start_step == 50
    assert read_parameters(Confusion, {"start_step": "None"}).start_step is None


def test_nothing_and_none_are_no_parameter() -> None:
    assert read_parameters(LossNotDecreasing, {"tensor_regex": "", "mode": "None"}) == LossNotDecreasing()


@pytest.mark.parametrize(
    ("rule", "given", "message"),
    [
        (UnchangedTensor, {"rtol": "small"}, "UnchangedTensor: rtol is 'small', and must be a number."),
        (UnchangedTensor, {"rtol": "nan"}, "UnchangedTensor: rtol is 'nan', and must be a number."),
        (UnchangedTensor, {"num_steps": "2.5"}, "UnchangedTensor: num_steps is '2.5', and must be a whole number."),
        (UnchangedTensor, {"num_steps": "-1"}, "UnchangedTensor: num_steps is '-1', and must be a whole number."),
        (
            UnchangedTensor,
            {"num_steps": "1e999"},
            "UnchangedTensor: num_steps is '1e999', and must be a whole number.",
        ),
        (UnchangedTensor, {"equal_nan": "yes"}, "UnchangedTensor: equal_nan is 'yes', and must be True or False."),
        (
            DeadRelu,
            {"tensor_regex": "("},
            "DeadRelu: tensor_regex is '(', and must be regular expressions with commas",
        ),
        (
            LossNotDecreasing,
            {"mode": "SOON"},
            "LossNotDecreasing: mode is 'SOON', and must be one of TRAIN, EVAL, GLOBAL.",
        ),
        (
            ExplodingTensor,
            {"statistics": "sum"},
            "ExplodingTensor: statistics is 'sum', and must be some of min, max, mean",
        ),
        (
            NLPSequenceRatio,
            {"token_values": "1,x"},
            "NLPSequenceRatio: token_values is '1,x', and must be numbers with",
        ),
        (
            NLPSequenceRatio,
            {"token_values": "1,2"},
            "NLPSequenceRatio: 2 token_values and 1 token_thresholds_percent are given",
        ),
        (
            DeadRelu,
            {"treshold_layer": "1"},
            "DeadRelu has no parameter treshold_layer. Did you mean threshold_layer? It has: ",
        ),
    ],
)
def test_what_cannot_be_read(rule: type[object], given: dict[str, str], message: str) -> None:
    with pytest.raises(ParameterError) as refused:
        read_parameters(rule, given)
    assert str(refused.value).startswith(message)


def test_state_is_no_parameter() -> None:
    with pytest.raises(ParameterError, match=r"ClassImbalance has no parameter _counts\."):
        read_parameters(ClassImbalance, {"_counts": "1"})


def test_two_rules_remember_separately() -> None:
    one, other = ClassImbalance(), ClassImbalance()
    assert one._counts is not other._counts


def test_infinity_is_a_number() -> None:
    assert math.isinf(read_parameters(UnchangedTensor, {"atol": "inf"}).atol)


def test_names_of_pytorch_are_looked_for_only_where_the_documented_pattern_matches_nothing() -> None:
    patterns = DeadRelu().tensor_regex
    assert patterns.matching(["a_relu_output_0", "relu1_output_0"]) == ["a_relu_output_0"]
    assert patterns.matching(["relu1_output_0", "layer.ReLU2_output_0", "fc_output_0"]) == [
        "relu1_output_0",
        "layer.ReLU2_output_0",
    ]
    given = read_parameters(DeadRelu, {"tensor_regex": ".*relu_output"}).tensor_regex
    assert given.matching(["relu1_output_0"]) == []
