"""Findings about a program in a container that is still there."""

import posixpath
from collections.abc import Generator, Mapping
from dataclasses import replace
from typing import Any

import pytest
from tests.unit.check.images import LINK, SCRIPT, file, layer, messages, program, subject
from tests.unit.sagemaker.conftest import FACTS, job, planned

from smlocal.check.after_failure import container_files, program_hint, signal_hint
from smlocal.check.cannot_look import CannotLookError
from smlocal.errors import EngineError, EngineLostError

FOLDER = b"5"
Tree = Mapping[str, tuple[Any, bytes]]


class Container:
    """Answers as an engine does: one path at a time, whose folders are followed if they are links."""

    def __init__(self, *entries: tuple[Any, bytes]) -> None:
        self.entries = {info.name: (info, content) for info, content in entries}
        self.asked: list[str] = []
        self.open = 0

    def archive(self, path: str) -> Generator[bytes, None, None]:
        self.asked.append(path)
        name = path.strip("/")
        if name not in self.entries:
            below = [each for each in self.entries if each.startswith(f"{name}/")]
            if not below:
                raise EngineError("Could not find the file", status=404)
            made = [file(posixpath.basename(name), mode=0o755, kind=FOLDER)]
            made += [(self.entries[each]) for each in below]
        else:
            info, content = self.entries[name]
            info.name = posixpath.basename(name)
            made = [(info, content)]
        self.open += 1
        try:
            yield layer(*made)
        finally:
            self.open -= 1


def hint(container: Container, **image: Any) -> str | None:
    assert FACTS.image is not None
    facts = replace(FACTS, image=replace(FACTS.image, **image))
    said = program_hint(planned(job({}, {}), facts), container.archive)
    assert container.open == 0
    return said


SHELL = program("bin/sh", b"\x7fELF")


def test_the_program_itself_is_looked_at() -> None:
    assert hint(Container(SHELL, file("usr/local/bin/train", SCRIPT))) == (
        "/usr/local/bin/train is not executable (mode 0644). Run chmod +x on it before COPY, or RUN chmod +x in the "
        "Dockerfile."
    )
    assert (hint(Container(SHELL)) or "").startswith("There is no ENTRYPOINT, and no train on the PATH of the image. ")
    windows = hint(Container(SHELL, program("usr/bin/train", b"#!/bin/sh\r\n")))
    assert (windows or "").startswith("/usr/bin/train has Windows line endings. ")
    bash = hint(Container(SHELL, program("usr/bin/train", b"#!/bin/bash\n")))
    assert (bash or "").startswith("The interpreter /bin/bash of /usr/bin/train is missing. ")
    plain = hint(Container(SHELL, program("usr/bin/train", b"echo\n")))
    assert (plain or "").startswith("/usr/bin/train has no #! line")
    assert hint(Container(SHELL, program("usr/bin/train"))) is None


def test_links_are_followed() -> None:
    entries = (
        file("bin", kind=LINK, link="usr/bin"),
        program("usr/bin/sh", b"\x7fELF"),
        file("usr/bin/train", kind=LINK, link="../../opt/run"),
        file("opt/run", SCRIPT),
    )
    container = Container(*entries)
    assert (hint(container, environment={"PATH": "/bin"}) or "").startswith("/opt/run is not executable")
    assert len(container.asked) == len(set(container.asked))


@pytest.mark.parametrize(
    ("command", "entrypoint"),
    [
        (("python", "/app/main.py"), '["python", "/app/main.py"]'),
        (("/bin/sh", "-c", "python /app/main.py --epochs 3"), '["python", "/app/main.py", "--epochs", "3"]'),
        (("/bin/sh", "-c", "cd /app && python main.py"), '["/bin/sh", "-c", "cd /app && python main.py"]'),
        (("/app/main",), '["/app/main"]'),
    ],
)
def test_a_command_that_the_service_replaces(command: tuple[str, ...], entrypoint: str) -> None:
    said = hint(Container(SHELL), command=command)
    assert said == (
        "The service runs train in place of the CMD of the image, and there is no train on its PATH. Make it the "
        f"ENTRYPOINT: ENTRYPOINT {entrypoint}"
    )


@pytest.mark.parametrize("command", [("bash",), ("/bin/sh",), ("python3",), ("python3.11",), ("R",)])
def test_the_command_of_a_base_image_is_no_program(command: tuple[str, ...]) -> None:
    assert (hint(Container(SHELL), command=command) or "").startswith("There is no ENTRYPOINT")


def test_a_command_that_an_entry_point_would_get() -> None:
    said = hint(Container(program("bin/python", b"\x7fELF")), entrypoint=("python",), command=("/app/main.py",))
    assert said == (
        "The service gives python train in place of the CMD of the image, and there is no /train. Make it the "
        'ENTRYPOINT: ENTRYPOINT ["python", "/app/main.py"]'
    )


def test_check_says_the_same_of_the_image() -> None:
    image = subject(layer(SHELL), command=("python", "/app/main.py"))
    (said,) = messages("train-missing", image)
    assert said.startswith(
        "the service runs train in place of the CMD of the image, and there is no train on its PATH: exec"
    )


class Odd(Container):
    """Answers to every question with this."""

    def __init__(self, answer: bytes | Exception) -> None:
        super().__init__()
        self.answer = answer

    def archive(self, path: str) -> Generator[bytes, None, None]:
        self.asked.append(path)
        if isinstance(self.answer, Exception):
            raise self.answer
        yield self.answer


@pytest.mark.parametrize("answer", [EngineError("busy", status=500), EngineLostError("gone"), b"x" * 700, b"", b"x"])
def test_an_answer_that_says_nothing_is_no_finding(answer: bytes | Exception) -> None:
    container = Odd(answer)
    assert hint(container) is None
    assert container.asked


def test_a_container_is_not_asked_without_end() -> None:
    container = Container(SHELL)
    files = container_files(container.archive)
    with pytest.raises(CannotLookError):
        list(map(files.find, map(str, range(1000))))
    assert len(container.asked) < 500
    with pytest.raises(CannotLookError):
        next(files.everything())


def test_a_shell_in_front_of_the_program() -> None:
    def said(container: Container, **image: Any) -> str | None:
        assert FACTS.image is not None
        facts = replace(FACTS, image=replace(FACTS.image, **image))
        return signal_hint(planned(job({}, {}), facts), container.archive)

    script = program("usr/bin/train", b"#!/bin/sh\npython /opt/train.py\n")
    found = said(Container(SHELL, script))
    assert found is not None
    assert found.startswith("/usr/bin/train starts 'python /opt/train.py' without exec")
    form = said(Container(SHELL), entrypoint=("/bin/sh", "-c", "python train.py"))
    assert form is not None
    assert form.startswith("ENTRYPOINT runs 'python train.py' in /bin/sh")
    assert said(Container(SHELL, program("usr/bin/train", b"#!/bin/sh\nexec python x\n"))) is None


def test_the_shell_of_a_client_is_not_to_be_changed() -> None:
    words = {"ContainerEntrypoint": ["/bin/bash", "-c"], "ContainerArguments": ["/opt/ml/input/data/sm_drivers/x.sh"]}
    algorithm = {"TrainingImage": "x", "TrainingInputMode": "File", **words}
    plan = planned(job({"AlgorithmSpecification": algorithm}, {}), FACTS)
    said = signal_hint(plan, Container(SHELL).archive)
    assert said is not None
    assert said.startswith("The first process of a ModelTrainer job is bash")
