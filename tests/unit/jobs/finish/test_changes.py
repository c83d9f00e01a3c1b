"""Which changed paths of a container are files that it wrote outside of what the service keeps or provides."""

import pytest

from smlocal.jobs.finish.results import outside


@pytest.mark.parametrize(
    ("changed", "files"),
    [
        (["/root", "/root/.cache", "/root/.cache/index"], ["/root/.cache/index"]),
        (["/opt", "/opt/ml", "/opt/ml/input", "/etc", "/etc/hosts", "/run", "/run/.containerenv"], []),
        (["/etc", "/run"], []),
        (["/tmp", "/tmp/a", "/tmp/b/c"], []),
        (["/var", "/var/empty"], ["/var/empty"]),
        (["/opt", "/opt/mlx", "/opt/mlx/a", "/tmpx"], ["/opt/mlx/a", "/tmpx"]),
        ([], []),
    ],
)
def test_what_is_left(changed: list[str], files: list[str]) -> None:
    assert outside(changed, root="/opt/ml") == files
