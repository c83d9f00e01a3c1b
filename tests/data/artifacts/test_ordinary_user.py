"""Files that a container leaves as root can be read and deleted by an ordinary user."""

import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

NASTY = r"""
umask 077
ls -ln /opt/ml /opt/ml/input /opt/ml/input/config
cat /opt/ml/input/config/a.json
cd /opt/ml/model
mkdir -p a/b/c wide/1 wide/2 wide/3
echo one > a/b/c/file
ln -s /etc/passwd a/link
mkfifo a/pipe
chmod 000 a/b a/b/c a/b/c/file
chmod 1777 wide
echo two > wide/1/file
chown -R 1234:1234 wide/2
echo data > /opt/ml/output/data/file
"""
KIND = """
umask 022
mkdir -p /opt/ml/model/a/b/c /opt/ml/model/d
echo one > /opt/ml/model/a/b/c/file
"""


@pytest.fixture
def place() -> Iterator[Path]:
    """A folder that an ordinary user can reach; pytest's own belong to root."""
    folder = Path(tempfile.mkdtemp(prefix="smlocal-ordinary-"))
    shutil.chown(folder, 54321, 54321)
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


@pytest.fixture
def live(
    place: Path, image: Callable[[str], str], assert_nothing_left: Callable[[str], None]
) -> Callable[[str], dict[str, Any]]:
    if os.geteuid() != 0:
        pytest.skip("only root can become somebody else")

    def run(script: str) -> dict[str, Any]:
        job = f"ordinary-{uuid4().hex[:8]}"
        command = [sys.executable, str(Path(__file__).with_name("ordinary_user.py"))]
        done = subprocess.run(
            [*command, str(place), image("sh"), job, script], capture_output=True, text=True, check=False
        )
        subprocess.run(["docker", "rm", "-f", job], capture_output=True, check=False)
        assert done.returncode == 0, done.stderr
        assert_nothing_left(job)
        answer: dict[str, Any] = json.loads(done.stdout)
        return answer

    return run


def contents(archive: str) -> dict[str, tuple[int, bytes]]:
    with tarfile.open(archive) as members:
        seen = {}
        for member in members:
            file = members.extractfile(member) if member.isreg() else None
            seen[member.name] = (member.mode, file.read() if file else member.linkname.encode())
        return seen


def test_a_container_that_hides_everything(live: Callable[[str], dict[str, Any]]) -> None:
    answer = live(NASTY)
    assert (answer["code"], answer["readable"]) == (0, False), answer["written"]
    assert '{"a":1}' in answer["written"]
    listed = [line.split() for line in answer["written"].splitlines() if line[:1] in {"d", "-"}]
    owners = {fields[-1]: (fields[0], fields[2], fields[3]) for fields in listed}
    assert owners["input"] == owners["model"] == owners["output"] == owners["config"] == ("drwxr-xr-x", "0", "0")
    assert owners["a.json"] == ("-rw-r--r--", "0", "0")

    assert contents(answer["model"]) == {
        "a": (0o700, b""),
        "a/b": (0o000, b""),
        "a/b/c": (0o000, b""),
        "a/b/c/file": (0o000, b"one\n"),
        "a/link": (0o777, b"/etc/passwd"),
        "wide": (0o1777, b""),
        "wide/1": (0o700, b""),
        "wide/1/file": (0o600, b"two\n"),
        "wide/2": (0o700, b""),
        "wide/3": (0o700, b""),
    }
    assert contents(answer["output"]) == {"file": (0o600, b"data\n")}
    assert any("pipe is a FIFO" in note for note in answer["notes"])

    assert "Permission denied" in answer["refused"]
    assert (answer["owners"], answer["modes"]) == ([54321], ["0o700"])
    assert answer["left"] is False


def test_usual_modes_need_one_call(live: Callable[[str], dict[str, Any]]) -> None:
    answer = live(KIND)
    assert (answer["code"], answer["readable"]) == (0, True), answer["written"]
    assert contents(answer["model"])["a/b/c/file"] == (0o644, b"one\n")
    assert (answer["calls"], answer["owners"], answer["left"]) == (1, [54321], False)
