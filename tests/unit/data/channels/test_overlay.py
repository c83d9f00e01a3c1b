import pytest

from smlocal.data.channels.copy import is_overlay_refusal
from smlocal.errors import EngineError


@pytest.mark.parametrize(
    ("message", "refused"),
    [
        ("error while mounting volume '/x/_data': failed to mount local volume: mount overlay: invalid argument", True),
        ('OCI runtime create failed: exec: "train": executable file not found in $PATH', False),
    ],
)
def test_only_a_failed_mount_is_a_refusal(message: str, refused: bool) -> None:
    assert is_overlay_refusal(EngineError(message, status=500)) is refused
