import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.kit import Run

Remember = Callable[..., None]


@pytest.fixture
def page(tmp_path: Path) -> Path:
    return tmp_path / "page.html"


def test_a_page_is_written_where_it_is_wanted(remember: Remember, smlocal: Run, page: Path) -> None:
    remember("done")
    done = smlocal("report", "done", "--html", str(page))
    assert (done.returncode, done.stdout) == (0, "")
    assert str(page) in done.stderr
    text = page.read_text(encoding="utf-8")
    assert text.startswith("<!DOCTYPE html>")
    assert "<title>done: Completed in 2.6 s</title>" in text
    assert smlocal("report", "done", "--html", "-").stdout.startswith("<!DOCTYPE html>")


def test_a_job_that_was_never_here_or_was_removed(remember: Remember, smlocal: Run, page: Path) -> None:
    remember("done")
    assert smlocal("rm", "done").returncode == 0
    done = smlocal("report", "done", "--html", str(page))
    assert done.returncode == 2
    assert "[job-unknown]" in done.stderr
    assert not page.exists()


def test_a_folder_that_is_not_there_is_an_error_and_not_made(remember: Remember, smlocal: Run, tmp_path: Path) -> None:
    remember("done")
    done = smlocal("report", "done", "--html", str(tmp_path / "gone" / "page.html"))
    assert done.returncode == 2
    assert "[output-unusable]" in done.stderr
    assert not (tmp_path / "gone").exists()


def test_a_run_whose_report_could_not_be_written_is_refused_before_anything_is_looked_at(
    smlocal: Run, tmp_path: Path, error_of: Callable[..., dict[str, Any]]
) -> None:
    done = smlocal("run", "--image", "any", "--report", str(tmp_path / "gone" / "r.json"), "--json", DOCKER_HOST="x")
    assert done.returncode == 2
    assert error_of(done)["Id"] == "output-unusable"
    assert json.loads(smlocal("jobs", "--json").stdout)["TrainingJobSummaries"] == []
