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


@pytest.mark.slow(0.5)
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


def test_without_a_file_it_is_next_to_the_person(remember: Remember, smlocal: Run, tmp_path: Path) -> None:
    remember("done")
    here = tmp_path / "here"
    here.mkdir()
    done = smlocal("report", cwd=here)
    assert (done.returncode, done.stdout, done.stderr) == (0, "done.html\n", "newest job: done\n")
    assert (here / "done.html").read_text(encoding="utf-8").startswith("<!DOCTYPE html>")


class TestOpen:
    """`--open`, with a program that notes what it is to open."""

    @pytest.fixture
    def environment(self, tmp_path: Path) -> dict[str, str]:
        programs = tmp_path / "programs"
        programs.mkdir()
        for name in ("xdg-open", "open"):
            (programs / name).write_text(f'#!/bin/sh\necho "$1" >>{tmp_path}/opened\nexit ${{CODE:-0}}\n')
            (programs / name).chmod(0o755)
        none = dict.fromkeys(("CI", "GITHUB_ACTIONS", "GITLAB_CI", "TF_BUILD"), "")
        return {"PATH": f"{programs}:/usr/bin:/bin", "DISPLAY": ":9", **none}

    def test_the_page_is_opened(
        self, remember: Remember, smlocal: Run, page: Path, environment: dict[str, str], tmp_path: Path
    ) -> None:
        remember("done")
        assert smlocal("report", "done", "--html", str(page), "--open", **environment).returncode == 0
        assert (tmp_path / "opened").read_text() == f"{page}\n"

    @pytest.mark.slow(0.5)
    @pytest.mark.parametrize(
        ("changes", "why"),
        [
            ({"CI": "true"}, "this is a CI service"),
            ({"DISPLAY": "", "WAYLAND_DISPLAY": "", "BROWSER": ""}, "there is no screen"),
            ({"PATH": "/nowhere"}, "not installed"),
            ({"CODE": "3"}, "xdg-open exited with 3"),
        ],
        ids=str,
    )
    @pytest.mark.linux("macOS always has a screen")
    def test_where_there_is_no_browser_the_page_is_written(
        self,
        changes: dict[str, str],
        why: str,
        remember: Remember,
        smlocal: Run,
        page: Path,
        environment: dict[str, str],
        tmp_path: Path,
    ) -> None:
        remember("done")
        done = smlocal("report", "done", "--html", str(page), "--open", **{**environment, **changes})
        assert done.returncode == 3
        assert "[browser-missing]" in done.stderr
        assert why in done.stderr
        assert f"Open it yourself: {page}" in done.stderr
        assert page.exists()
        assert (tmp_path / "opened").exists() == ("CODE" in changes)

    def test_standard_output_cannot_be_opened(self, remember: Remember, smlocal: Run) -> None:
        remember("done")
        done = smlocal("report", "done", "--html", "-", "--open")
        assert (done.returncode, done.stdout) == (2, "")
