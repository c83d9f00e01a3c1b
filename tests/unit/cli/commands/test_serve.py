"""What `smlocal serve` and `smlocal exec` refuse before they begin."""

from pathlib import Path

import pytest
from tests.kit import Run


@pytest.mark.slow(0.5)
@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("serve", "--buckets", "/etc/passwd"), 2, "--buckets: /etc/passwd is not a folder"),
        (("serve", "--allow-path", "/nowhere"), 2, "--allow-path: /nowhere is not a folder"),
        (("serve", "--allow-bucket", "No Bucket!"), 2, "--allow-bucket: no bucket can have the name 'No Bucket!'"),
        (("serve", "--allow-bucket", "s3://bucket"), 2, "--allow-bucket: no bucket can have the name 's3://bucket'"),
        (("serve", "--allow-bucket", ""), 2, "--allow-bucket: no bucket can have the name ''"),
        (("serve", "--refuse"), 2, "--refuse needs --max-instances"),
        (("serve", "--host", "192.0.2.1"), 3, "Give an address of this machine."),
        (("serve", "--host", "nowhere.invalid"), 3, "Give an address of this machine."),
        (("exec", "no-such-program"), 2, "no-such-program cannot be started"),
        (("exec", "--", "/etc/passwd"), 2, "/etc/passwd cannot be started"),
    ],
)
def test_bad_input(words: tuple[str, ...], code: int, said: str, smlocal: Run) -> None:
    done = smlocal(*words)
    assert (done.returncode, done.stdout) == (code, "")
    assert said in done.stderr


@pytest.mark.parametrize("command", [("serve",), ("exec", "true")], ids=["serve", "exec"])
def test_stand_ins_with_mistakes(command: tuple[str, ...], tmp_path: Path, smlocal: Run) -> None:
    file = tmp_path / "steps.yaml"
    name, *rest = command
    done = smlocal(name, "--steps", str(file), *rest)
    assert (done.returncode, f"{file} cannot be read" in done.stderr) == (2, True), done.stderr
    file.write_text("A: {Skip: true}\nB:\n  Comand: [x]\nC: {Python: step}\n")
    done = smlocal(name, "--steps", str(file), *rest)
    assert done.returncode == 2
    assert "2 problems in steps.yaml" in done.stderr
    assert "steps.yaml:3   B.Comand: did you mean Command?" in done.stderr, done.stderr
    assert "steps.yaml:4   C.Python: must be a file and a function in it" in done.stderr
