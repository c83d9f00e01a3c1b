"""Rules about images of processing jobs, on images in memory."""

from dataclasses import replace

import pytest
from tests.unit.check.images import SCRIPT, file, layer, messages, program, subject

from smlocal.check.registry import chosen_rules
from smlocal.check.subject import LaunchProfile, ProcessingCommand

SHELL = program("bin/sh", b"\x7fELF")
MISSING = "processing-program-missing"
PROGRAMS = "processing-programs"


def test_the_command_of_the_image_counts() -> None:
    assert messages(MISSING, subject(layer(SHELL, program("opt/split")), entrypoint=["/opt/split"])) == []
    assert messages(MISSING, subject(layer(SHELL), command=("sh",))) == []
    assert messages(MISSING, subject(layer(SHELL), command=("split", "all"))) == ["the image has no split on its PATH"]
    assert messages(MISSING, subject(layer(SHELL), entrypoint=["/opt/split"])) == ["the image has no /opt/split"]
    assert messages(MISSING, subject(layer(SHELL))) == [
        "the image has neither ENTRYPOINT nor CMD, and there is no ContainerEntrypoint"
    ]


def test_what_may_not_be_executed_is_found_too() -> None:
    (said,) = messages(MISSING, subject(layer(SHELL, file("opt/split", SCRIPT)), entrypoint=["/opt/split"]))
    assert said == '/opt/split is not executable (mode 0644): exec: "/opt/split": permission denied'


@pytest.mark.parametrize(
    ("entrypoint", "arguments", "expected"),
    [
        (("sh", "-c", "true"), None, []),
        (("python3",), ("a.py",), ["the image has no python3 on its PATH"]),
        (None, ("split",), ["tini runs its arguments, and the image has no split on its PATH"]),
        (None, ("sh",), []),
    ],
)
def test_the_command_of_the_request_takes_its_place(
    entrypoint: tuple[str, ...] | None, arguments: tuple[str, ...] | None, expected: list[str]
) -> None:
    image = subject(layer(SHELL, program("usr/bin/tini", b"\x7fELF")), entrypoint=["tini", "--"], command=("gone",))
    given = ProcessingCommand(file="job.yaml", entrypoint=entrypoint, arguments=arguments)
    assert messages(MISSING, replace(image, processing=given)) == expected


def test_a_job_with_a_command_of_its_own_needs_no_program_of_the_sdk() -> None:
    image = subject(layer(SHELL))
    assert len(messages(PROGRAMS, image)) == 5
    own = ProcessingCommand(file="job.yaml", entrypoint=("sh",), arguments=None)
    assert messages(PROGRAMS, replace(image, processing=own)) == []


def test_training_is_left_out() -> None:
    chosen = [rule.id for rule in chosen_rules(profiles=[LaunchProfile.PROCESSING])]
    assert {MISSING, PROGRAMS, "image-architecture", "variable-secret"} <= {*chosen}
    assert not {"train-missing", "job-fails", "server-missing"} & {*chosen}
    both = [rule.id for rule in chosen_rules(profiles=[LaunchProfile.PROCESSING, LaunchProfile.TRAIN_AND_SERVE])]
    assert {MISSING, "train-missing", "server-missing"} <= {*both}
