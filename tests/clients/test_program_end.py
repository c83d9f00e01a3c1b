"""What `smlocal exec` says when its program has ended."""

import re
import sys
from collections.abc import Callable
from typing import Any

import pytest
from tests.clients.conftest import PROGRAMS, User

NO_IMAGE = (
    "ClientError: Cannot pull algorithm container. Either the image does not exist or its permissions are incorrect."
)


@pytest.mark.slow(3)
def test_the_end_says_which_jobs_ran_how_they_ended_and_where_the_models_are(
    user: User, image: Callable[[str], str], smlocal_run: Callable[..., Any], assert_nothing_left: Callable[[str], None]
) -> None:
    exec_ = [sys.executable, "-m", "smlocal", "exec", "--", sys.executable]
    done = user.run([*exec_, PROGRAMS / "five_jobs.py", image("sh"), "exec-end", "7"])
    try:
        model = f"{user.home}/artifacts/exec-end-good/output/model.tar.gz"
        assert (done.returncode, done.stdout) == (7, "")
        said = [re.sub(r"[\d.]+ (s|B|KiB)$", r"0 \1", line) for line in done.stderr.splitlines()]
        assert [line for line in said if line.startswith("  hint ")]
        said = [
            re.sub(r"^(  because .*? is not available locally),.*", r"\1", line)
            for line in said
            if "  hint " not in line
        ]
        assert said == [
            "smlocal: 5 training jobs of this program",
            "  exec-end-good   Completed in 0 s",
            f"  model     {model}  0 B",
            "  exec-end-bad   Failed in 0 s",
            "  reason    AlgorithmError: no rows",
            "  exec-end-no-image   Failed in 0 s",
            f"  reason    {NO_IMAGE}",
            "  because   image 127.0.0.1:1/none is not available locally",
            "  exec-end-deleted   deleted",
            "  exec-end-long   InProgress: it keeps running",
            "  next      smlocal logs exec-end-bad · smlocal describe exec-end-bad",
        ]
    finally:
        smlocal_run("stop", "exec-end-long", "--wait", "--grace", "0")
    assert_nothing_left("exec-end-long")


@pytest.mark.slow(1)
@pytest.mark.parametrize(("program", "code"), [("pass", 0), ("raise SystemExit(3)", 3)])
def test_nothing_is_said_of_a_program_that_starts_no_job(program: str, code: int, user: User) -> None:
    command = [sys.executable, "-m", "smlocal", "exec", "--", sys.executable, "-c", program]
    done = user.run(command)
    assert (done.returncode, done.stdout, done.stderr) == (code, "", "")


def test_a_type_among_the_words_of_the_command_is_named(user: User) -> None:
    command = [sys.executable, "-m", "smlocal", "exec", "--", "true", "--instance-type", "local_gpu"]
    done = user.run(command)
    assert done.returncode == 0
    assert done.stderr.splitlines()[1:] == [
        "  in        the command",
        "  this      --instance-type local_gpu",
        "  to this   --instance-type ml.g5.xlarge",
        "  more      smlocal help local-mode",
    ]
