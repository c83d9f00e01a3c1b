import pytest

from smlocal.jobs.decide.hints import start_hint

RUNC = "OCI runtime create failed: runc create failed: unable to start container process: "


@pytest.mark.parametrize(
    ("message", "word"),
    [
        ('exec: "train": executable file not found in $PATH: unknown', "No program train on the PATH"),
        ("executable file `train` not found in $PATH: No such file", "No program train on the PATH"),
        ('exec: "/t/train": permission denied: unknown', "not executable"),
        ('exec: "/t/train": stat /t/train: no such file or directory: unknown', "The image has no program /t/train."),
        ("exec /usr/local/bin/train: no such file or directory", "Windows"),
        ("exec /usr/local/bin/train: exec format error", "#!"),
        (
            'error mounting "/m" to rootfs at "/etc/hosts": mount /m:/etc/hosts (via /proc/self/fd/6): not a directory',
            "/etc/hosts is a file",
        ),
    ],
)
def test_a_start_that_failed_is_explained(message: str, word: str) -> None:
    hint = start_hint(RUNC + message, ["/opt/ml/model", "/checkpoints"])
    assert hint is not None
    assert word in hint


@pytest.mark.parametrize(
    "message",
    [
        "something else",
        "unable to setup user: stat /dev/null: no such file or directory: unknown",
        "error during container init: mkdir /proc/x: permission denied",
    ],
)
def test_what_is_not_known_is_not_explained(message: str) -> None:
    assert start_hint(RUNC + message, of_platform=lambda: "a program is wrong") is None


@pytest.mark.parametrize("target", ["/dev", "/usr/local/bin", "/etc/hosts"])
def test_a_folder_of_the_job_in_a_place_of_the_system_is_named(target: str) -> None:
    hint = start_hint("something else", ["/opt/ml/model", target])
    assert hint is not None
    assert hint.startswith(f"A folder of the job is mounted at {target} and hides")


def test_what_the_platform_finds_in_the_container_comes_first() -> None:
    message = RUNC + 'exec: "train": executable file not found in $PATH: unknown'
    assert start_hint(message, of_platform=lambda: "it is not executable") == "it is not executable"
    assert start_hint(message, ["/usr/local/bin"], lambda: "it is not there") != "it is not there"
