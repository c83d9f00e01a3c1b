"""Which slow tests run with a commit."""

import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tests import tiers
from tests.kit import until
from tests.tiers import ALWAYS, PARTS, ROOT, Commit, choose, may_import, this_commit, touched_places

SLOW = [
    *((f"tests/unit/jobs/test_{number}.py::test", 10.0) for number in range(60)),
    *((f"tests/doors/cli/test_{number}.py::test[docs/run.md]", 5.0) for number in range(60)),
]


def test_each_runs_within_so_many_commits_whatever_they_touch() -> None:
    run = set()
    for number in range(1000, 1000 + PARTS):
        run |= set(choose(SLOW, Commit(number=number)).part)
    assert run == {name for name, _ in SLOW}


def test_of_what_is_touched_as_many_run_as_fit_and_at_each_commit_others() -> None:
    chosen = [
        choose(SLOW, Commit(number=number, places=frozenset({"jobs"}), importers=frozenset({"cli"})))
        for number in range(8)
    ]
    for each in chosen:
        assert len([name for name in each.touched if "/jobs/" in name]) == 6
        assert {*each.touched, *each.part, *each.left} == {name for name, _ in SLOW}
        of_job = len([name for name in each.left if "/jobs/" in name])
        assert each.seconds_left == 10.0 * of_job + 5.0 * (len(each.left) - of_job)
    assert len({tuple(sorted(each.touched)) for each in chosen}) == len(chosen)


def test_rooms_that_import_it_get_what_is_left() -> None:
    places, importers = frozenset({"doctor"}), frozenset({"cli"})
    chosen = choose(SLOW, Commit(number=1, places=places, importers=importers))
    assert len(chosen.touched) == 12
    assert all("/cli/" in name for name in chosen.touched)


def test_nothing_is_added_where_nothing_is_touched() -> None:
    assert choose(SLOW, Commit(number=3)).touched == []


def test_a_page_brings_the_tests_that_name_it() -> None:
    chosen = choose(SLOW, Commit(number=3, places=touched_places(["docs/run.md"])))
    assert chosen.touched
    assert all("docs/run.md" in name for name in chosen.touched)


def test_what_files_stand_for() -> None:
    files = [
        "src/smlocal/jobs/host/host_run.py",
        "src/smlocal/sagemaker/contract/paths.py",
        "src/smlocal/jobs/planning/aspects/limits/look.py",
        "src/smlocal/base/readable.py",
        "tests/data/s3/test_client.py",
        "tests/repo/test_rooms.py",
        "docs/run.md",
        "examples/hello/image/train",
        "scripts/lib/say.sh",
        "README.md",
        "benchmarks/RESULTS.md",
    ]
    assert touched_places(files) == {
        *(
            "jobs",
            "in_jobs",
            "contract",
            "planning",
            "base",
            "s3",
            "test_client",
            "repo",
            "test_rooms",
            "run.md",
            "hello",
        ),
        "test_image_script",
    }


def test_rooms_come_from_the_page_and_the_commit_from_git() -> None:
    assert "errors" in may_import()["cli"]
    assert this_commit() == this_commit()


def test_parts_take_about_the_same_time() -> None:
    slow = [*SLOW, ("tests/clients/test_large.py", 90.0)]
    times = dict(slow)
    lengths = [sum(times[name] for name in choose(slow, Commit(number=number)).part) for number in range(PARTS)]
    assert max(lengths) == 90
    assert max(sorted(lengths)[:-1]) - min(lengths) <= 10


def test_what_needs_a_large_image_runs_if_its_folder_is_touched_or_with_all_others() -> None:
    rules, launchers = "tests/jobs/rules/test_end.py::test", "tests/jobs/hosts/test_launchers.py::test"
    example = "tests/docs/test_example_pages.py::test_torchrun"
    slow = [*SLOW, (rules, 5.0), (launchers, 5.0), (example, 5.0)]
    large = {rules, launchers, example}
    room = touched_places(["src/smlocal/jobs/supervisor.py"])
    for number in range(PARTS):
        chosen = choose(slow, Commit(number=number, places=room, importers=frozenset({"docs"})), large=large)
        assert large <= {*chosen.left}
    for file, touched in {
        "src/smlocal/debugger/job_rules.py": rules,
        "tests/jobs/hosts/test_launchers.py": launchers,
        "examples/torchrun/image/train": example,
    }.items():
        chosen = choose(slow, Commit(number=1, places=touched_places([file])), large=large)
        assert large & {*chosen.touched} == {touched}


def test_every_large_image_has_tests_and_they_are_marked() -> None:
    places = [*(ROOT / "tests" / "kit" / "images").iterdir(), *(ROOT / "examples").glob("*/image")]
    asks = re.compile("^(torch|tensorflow)", re.MULTILINE)
    images = {
        str(place.relative_to(ROOT))
        for place in places
        if (wanted := place / "requirements.txt").is_file() and asks.search(wanted.read_text(encoding="utf-8"))
    }
    texts = [file.read_text(encoding="utf-8") for file in (ROOT / "tests").rglob("test_*.py")]
    marks = "".join("".join(re.findall(r"mark\.large\(([^)]*)\)", text)) for text in texts)
    assert {*re.findall('"([^"]*)"', marks)} == {*images, "tests/jobs/rules/requirements-of-rules.txt", "benchmarks"}
    for image in images:
        name = image.split("/")[1] if image.startswith("examples") else image.rpartition("/")[2]
        named = rf'follow\("{name}"|"examples" / "{name}" / "image"'
        used = re.compile(named if image.startswith("examples") else rf'image\((IMAGES / )?"{name}"\)')
        for text in texts:
            assert not used.search(text) or f'"{image}"' in text, f"a test that needs {image} is not marked"


def test_the_large_images_of_the_chosen_tests_are_made_beside_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    for name in ("one", "other", "scripts"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "Dockerfile").touch()
    (tmp_path / "list.txt").touch()
    (tmp_path / "scripts" / "image").write_text('#!/bin/sh\necho "$1" >>made\n')
    (tmp_path / "scripts" / "image").chmod(0o755)
    monkeypatch.setattr(tiers, "ROOT", tmp_path)
    marks = [pytest.mark.large.with_args(*names).mark for names in (("other", "list.txt"), ("one",))]
    items = [SimpleNamespace(iter_markers=lambda _: marks), SimpleNamespace(iter_markers=lambda _: marks[1:])]
    plugin: Any = request.config.pluginmanager.get_plugin(str(ROOT / "tests" / "conftest.py"))
    plugin.begin_images(items)
    made = tmp_path / "made"
    until(lambda: made.exists() and made.read_text() == "other\none\n")


def test_what_is_named_runs_with_each_commit() -> None:
    heart = f"tests/stress/test_race.py::{ALWAYS[0]}"
    chosen = choose([*SLOW, (heart, 500.0)], Commit(number=1))
    assert chosen.always == [heart]
    assert heart not in {*chosen.touched, *chosen.part, *chosen.left}


@pytest.mark.slow(0.5)
@pytest.mark.parametrize("name", ALWAYS)
def test_what_is_named_is_one_test_that_is_slow(name: str) -> None:
    marked = re.compile(rf"mark\.slow\(\d+\)\n(?:(?:@|[ )\]]).*\n)*def {name.partition('[')[0]}\(")
    texts = [file.read_text(encoding="utf-8") for file in (ROOT / "tests").rglob("test_*.py")]
    assert len([text for text in texts if marked.search(text)]) == 1


@pytest.mark.slow(0.5)
def test_of_a_test_whose_other_cases_are_slow_the_first_always_runs() -> None:
    file = "tests/data/s3/test_upload.py"
    command = [sys.executable, "-m", "pytest", "-q", "-n", "0", "--collect-only", "-k", "test_tried_again", file]
    cases = {
        slow: subprocess.run(
            [*command, "--slow", slow], cwd=ROOT, capture_output=True, text=True, check=False, timeout=120
        ).stdout.split("\n\n")[0]
        for slow in ("all", "some", "none")
    }
    assert cases["all"].splitlines()[0] in cases["some"].splitlines()
    assert cases["all"].count("::") == 16
    assert cases["none"].count("::") == 0
