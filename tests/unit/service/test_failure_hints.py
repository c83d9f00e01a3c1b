import pytest

from smlocal.service.submission import failure_hints


@pytest.mark.parametrize(
    ("reason", "log", "hint"),
    [
        ("AlgorithmError: , exit code: 137", "", "SIGKILL"),
        ("AlgorithmError: x, exit code: 1", "exec /train: exec format error", "another CPU"),
        ("AlgorithmError: x, exit code: 1", "OSError: [Errno 28] No space left on device", "VolumeSizeInGB"),
        ("AlgorithmError: x, exit code: 1", "unable to allocate shared memory(shm)", "/dev/shm"),
        ("AlgorithmError: x, exit code: 1", "NoCredentialsError: Unable to locate credentials", "RoleArn"),
    ],
)
def test_a_hint_says_more_than_the_reason(reason: str, log: str, hint: str) -> None:
    (found,) = failure_hints(reason, {"algo-1": "fine", "algo-2": log})
    assert hint in found
    assert "Local." not in found


def test_a_plain_failure_has_none() -> None:
    assert not [*failure_hints("AlgorithmError: ValueError: x, exit code: 1", {"algo-1": "ValueError: x"})]
    assert not [*failure_hints("ClientError: Data download failed", {})]
