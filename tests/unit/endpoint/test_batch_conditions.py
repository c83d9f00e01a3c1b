"""When the queue of AWS Batch tries a job again."""

import pytest

from smlocal.endpoint.batch.operations import is_retried


@pytest.mark.parametrize(
    ("pattern", "reason", "fits"),
    [
        ("*", "", True),
        ("a", "a", True),
        ("a", "ab", False),
        ("a*", "ab", True),
        ("b*", "ab", False),
        ("*b", "ab", True),
        ("ab*b", "ab", False),
        ("a*b*c", "a-bb-c", True),
        ("a*c*b", "a-bb-c", False),
        ("a.*", "ab", False),
        ("*\n*", "a\nb", True),
        ("*a" * 255 + "b", "a" * 1024, False),  # a regular expression would not end
    ],
)
def test_a_condition_is_a_pattern_with_asterisks(pattern: str, reason: str, fits: bool) -> None:
    strategy = {"evaluateOnExit": [{"onStatusReason": pattern, "action": "EXIT"}]}
    assert is_retried(strategy, reason) is not fits
