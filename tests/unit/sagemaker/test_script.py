"""How the plan's script brings data from S3; `tests/jobs/start/test_script.py` runs scripts."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest

from smlocal.jobs.planning.facts import Facts
from smlocal.jobs.planning.model import JobPlan
from smlocal.sagemaker.training.script import docker_line, shell_script
from smlocal.terms.listing import Listing

Planner = Callable[..., JobPlan]
FOLDER = "algo-1/input/data/train"


@pytest.mark.parametrize(
    ("prefix", "key_base", "sizes", "lines"),
    [
        ("data/", "data/", (1, 2), [f"aws s3 cp --recursive --only-show-errors s3://bucket/data/ {FOLDER}/"]),
        ("data", "data/", (1, 2), [f"aws s3 cp --recursive --only-show-errors s3://bucket/data/ {FOLDER}/"]),
        # Other keys may begin with `data/`, which the prefix or the manifest does not select.
        (
            "data/part",
            "data/",
            (1, 2),
            [f"aws s3 cp --only-show-errors s3://bucket/data/{path} {FOLDER}/{path}" for path in ("part-1", "part-2")],
        ),
        (
            "data/",
            "data/",
            (),
            [f"aws s3 cp --only-show-errors s3://bucket/data/{path} {FOLDER}/{path}" for path in ("part-1", "part-2")],
        ),
    ],
    ids=["folder", "folder without /", "part of a folder", "manifest"],
)
def test_only_the_selected_objects_are_copied(
    prefix: str, key_base: str, sizes: Sequence[int], lines: list[str], plan: Planner, listing: Listing
) -> None:
    remote = replace(listing, root="", prefix=prefix, key_base=key_base, paths=("part-1", "part-2"), sizes=sizes)
    script = shell_script(plan(listings={"train": remote}))
    assert [line for line in script.splitlines() if line.startswith("aws ")] == lines


def test_a_sample_of_a_folder_is_not_copied_as_a_whole(plan: Planner, listing: Listing) -> None:
    part = replace(listing, root="", prefix="data/", key_base="data/", paths=("a",), sizes=(1,), whole_tree=False)
    script = shell_script(plan(listings={"train": part}))
    assert f"aws s3 cp --only-show-errors s3://bucket/data/a {FOLDER}/a" in script
    assert "--recursive" not in script


def test_too_many_single_objects_are_refused(plan: Planner, listing: Listing) -> None:
    remote = replace(listing, root="", prefix="train/p", paths=tuple(f"p{n}" for n in range(2000)), sizes=(1,) * 2000)
    script = shell_script(plan(listings={"train": remote}))
    assert "echo 'this job needs smlocal run: train has too many single objects' >&2; exit 3\n" in script
    assert len(script.splitlines()) < 1200


def test_commands_are_for_the_engine_that_the_job_names(plan: Planner, facts: Facts) -> None:
    there = replace(facts.engines.first, address="unix:///run/other one.sock")
    for named in (False, True):
        made = plan({"InputDataConfig": None}, engine=replace(there, named=named))
        line = docker_line(made, "/folder")
        assert line is not None
        assert (line.words[:3] == ("docker", "-H", "'unix:///run/other one.sock'")) is named
        assert ("\nexport DOCKER_HOST='unix:///run/other one.sock'\n" in shell_script(made)) is named
