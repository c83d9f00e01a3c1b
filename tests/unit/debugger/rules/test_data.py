"""Judgements of inputs, labels, layers and trees."""

import numpy as np
import pytest
from smlocal_rules.failures import TensorError
from smlocal_rules.labelled import as_classes, classes_of
from smlocal_rules.rules.check_input_images import ChannelSums
from smlocal_rules.rules.class_imbalance import ClassCounts
from smlocal_rules.rules.confusion import confusion_matrix, judge_matrix
from smlocal_rules.rules.feature_importance_overweight import share_of_largest
from smlocal_rules.rules.nlp_sequence_ratio import percentage_of_token
from smlocal_rules.rules.poor_weight_initialization import range_of, ratio_of_variances
from smlocal_rules.rules.tree_depth import depth_of


def test_mean_and_variance_of_channels_over_batches() -> None:
    images = np.random.default_rng(0).normal(size=(6, 3, 2, 2)).astype(np.float32)
    sums = ChannelSums()
    sums.add(images[:4], 1)
    sums.add(images[4:], 1)
    assert sums.images == 6
    np.testing.assert_allclose(sums.means, images.mean(axis=(0, 2, 3)), rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(sums.variances, images.var(axis=(0, 2, 3)), rtol=1e-5)


def test_the_channel_may_be_the_last_axis() -> None:
    sums = ChannelSums()
    sums.add(np.full((2, 4, 4, 3), [1, 2, 3], dtype=np.uint8), 3)
    np.testing.assert_array_equal(sums.means, [1, 2, 3])


def test_imbalance_and_mispredictions_of_classes() -> None:
    counts = ClassCounts()
    counts.add(np.array([0, 0, 0, 1]), None)
    assert counts.imbalance == 3
    assert counts.mispredictions == {}
    counts.add(np.array([0, 1, 1, 1]), np.array([0, 0, 1, 0]))
    assert counts.imbalance == 1
    assert counts.mispredictions == {0: 0, 1: pytest.approx(2 / 3)}


def test_predicted_classes() -> None:
    labels = np.array([0, 1])
    probabilities = np.array([[0.9, 0.1], [0.2, 0.8]])
    assert classes_of(probabilities, labels, argmax=True, name="p").tolist() == [0, 1]
    assert classes_of(np.array([0.3, 0.7]), labels, argmax=False, name="p").tolist() == [0, 1]
    assert classes_of(np.array([[3], [5]]), labels, argmax=False, name="p").tolist() == [3, 5]
    with pytest.raises(TensorError, match=r"p has 4 values for 2 labels\. .*argmax"):
        classes_of(probabilities, labels, argmax=False, name="p")


def test_the_confusion_matrix() -> None:
    matrix = confusion_matrix(np.array([0, 0, 1, 2]), np.array([0, 1, 1, 2]), 3)
    assert matrix.tolist() == [[1, 1, 0], [0, 1, 0], [0, 0, 1]]
    assert judge_matrix(matrix, min_diag=0.9, max_off_diag=0.1) == "50 % of the predictions of class 1 are right"
    assert judge_matrix(matrix, min_diag=0.5, max_off_diag=0.1) == "50 % of the predictions of class 1 are of class 0"
    assert judge_matrix(matrix, min_diag=0.5, max_off_diag=0.5) is None


def test_the_largest_confusion_of_a_class_is_told() -> None:
    matrix = confusion_matrix(np.array([0, 1, 1, 2, 2, 2]), np.array([0, 0, 0, 0, 0, 0]), 3)
    assert judge_matrix(matrix, min_diag=0, max_off_diag=0.1) == "50 % of the predictions of class 0 are of class 2"


def test_negative_classes_are_not_in_the_matrix() -> None:
    assert confusion_matrix(np.array([-1, 0, 1]), np.array([0, -1, 1]), 2).tolist() == [[0, 0], [0, 1]]


def test_labels_are_whole_numbers() -> None:
    assert as_classes(np.array([[1.0], [2.0]]), name="labels").tolist() == [1, 2]
    with pytest.raises(TensorError, match=r"labels has values that are not classes, such as 2\.5\."):
        as_classes(np.array([1.0, 2.5]), name="labels")


def test_a_class_that_is_never_predicted() -> None:
    matrix = confusion_matrix(np.array([0, 1]), np.array([0, 0]), 3)
    assert judge_matrix(matrix, min_diag=0, max_off_diag=1) == "class 1 is never predicted"


def test_ten_equal_classes_without_errors_are_not_confused() -> None:
    labels = np.arange(100) % 10
    assert judge_matrix(confusion_matrix(labels, labels, 10), min_diag=0.9, max_off_diag=0.1) is None


def test_the_share_of_the_largest_features() -> None:
    assert share_of_largest([1, 5, 3, 1], 2) == 0.8
    assert share_of_largest([1], 3) == 1
    assert share_of_largest([], 3) == 0
    assert share_of_largest([1, 1], 0) == 0


def test_the_percentage_of_a_token() -> None:
    assert percentage_of_token(np.array([[0, 0, 1], [2, 0, 3]]), 0) == 50


def test_layers_are_compared_by_variance() -> None:
    assert ratio_of_variances([np.array([0.0, 1.0]), np.array([0.0, 4.0])]) == 16
    assert ratio_of_variances([np.zeros(2), np.array([0.0, 4.0])]) == np.inf


def test_the_range_of_gradients_leaves_out_the_outermost() -> None:
    assert range_of(np.arange(101)) == 90


@pytest.mark.parametrize(("largest", "depth"), [(0, 0), (1, 0), (2, 1), (6, 2), (30, 4), (62, 5)])
def test_the_depth_of_a_full_tree(largest: int, depth: int) -> None:
    assert depth_of(largest) == depth
