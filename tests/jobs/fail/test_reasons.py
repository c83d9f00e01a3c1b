"""The rows of `reasons.yaml` that need nothing but a script."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.kit.reasons import ROWS

SCRIPTED = {name: row["script"] for name, row in ROWS.items() if "script" in row}

Fails = Callable[..., dict[str, Any]]


@pytest.mark.slow(1, others=True)
@pytest.mark.parametrize("name", SCRIPTED)
def test_the_reason_and_the_path(name: str, fails: Fails) -> None:
    fails(name, SCRIPTED[name])


def test_what_was_written_before_a_failure_is_kept(fails: Fails, tmp_path: Path) -> None:
    fails("exit-1", "echo half >/opt/ml/model/half; echo also >/opt/ml/output/data/also; exit 1")
    assert sorted(path.name for path in (tmp_path / "out" / "exit-1" / "output").iterdir()) == [
        "model.tar.gz",
        "output.tar.gz",
    ]


def test_a_link_is_not_followed_out_of_the_tree(fails: Fails, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("of-the-host")
    answer = fails("file-link", f"ln -s {secret} /opt/ml/output/failure; exit 1")
    assert "of-the-host" not in str(answer)


def test_a_link_is_not_followed_within_the_tree(fails: Fails) -> None:
    fails("file-link", "echo no >/opt/ml/output/other; ln -s other /opt/ml/output/failure; exit 1")


@pytest.mark.slow(1)
@pytest.mark.usefixtures("no_override")
def test_a_file_that_only_root_may_read(fails: Fails) -> None:
    fails("file-unreadable", "printf 'for root only' >/opt/ml/output/failure; chmod 000 /opt/ml/output/failure; exit 1")


@pytest.mark.slow(1)
@pytest.mark.usefixtures("no_override")
def test_a_link_is_not_followed_by_the_engine(fails: Fails) -> None:
    fails("file-link", "ln -s /etc/passwd /opt/ml/output/failure; chmod 000 /opt/ml/output; exit 1")


def test_a_success_ignores_the_failure_file(
    image: Callable[[str], str], smlocal_run: Callable[..., Any], tmp_path: Path
) -> None:
    flags = ("--image", image("sh"), "--env", "SCRIPT=echo no >/opt/ml/output/failure", "--json")
    done = smlocal_run("run", *flags, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "FailureReason" not in done.stdout
