import subprocess
import sys
from pathlib import Path

import pytest

from smlocal.data.channels.fastfile import availability
from smlocal.data.channels.fastfile.availability import why_no_fuse


def test_without_mfusepy(tmp_path: Path) -> None:
    """In a Python that cannot see it."""
    script = (
        "import sys; sys.path[:] = [path for path in sys.path if 'site-packages' not in path]\n"
        f"sys.path.append({str(Path(availability.__file__).parents[4])!r})\n"
        "from smlocal.data.channels.fastfile.availability import why_no_fuse\n"
        "print(why_no_fuse())"
    )
    said = subprocess.run(
        [sys.executable, "-I", "-c", script], capture_output=True, text=True, check=True, cwd=tmp_path
    )
    assert said.stdout == "mfusepy is not installed: pip install 'smlocal[fastfile]'\n"


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("_DEVICE", "/dev/no-such-device", "this machine has no /dev/no-such-device"),
    ],
)
def test_without_what_the_machine_has_to_have(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str, words: str
) -> None:
    monkeypatch.setattr(availability, name, value)
    trouble = why_no_fuse()
    assert trouble is not None
    assert trouble.startswith(words)


@pytest.mark.parametrize(
    ("text", "allowed"),
    [("#user_allow_other\n", False), ("mount_max = 7\nuser_allow_other\n", True), (" user_allow_other \n", True)],
)
def test_containers_may_read_when_the_settings_say_so(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, text: str, allowed: bool
) -> None:
    settings = tmp_path / "fuse.conf"
    settings.write_text(text)
    monkeypatch.setattr(availability, "_SETTINGS", str(settings))
    assert availability._may_show_to_others() is allowed
    monkeypatch.setattr(availability, "_SETTINGS", str(tmp_path / "absent"))
    assert not availability._may_show_to_others()


def test_looking_imports_nothing_large() -> None:
    script = (
        "import sys\n"
        "from smlocal.data.channels.fastfile.availability import why_no_fuse\n"
        "from smlocal.data.channels.fastfile.mount import FuseMount\n"
        "from smlocal.data.channels.fastfile.availability import unmount_below\n"
        "from smlocal.data.channels.copy import prepare_read_only\n"
        "why_no_fuse()\n"
        "print(sorted({'mfusepy', 'botocore', 'urllib3', 'hashlib', 'boto3'} & set(sys.modules)))"
    )
    said = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert said.stdout == "[]\n"
