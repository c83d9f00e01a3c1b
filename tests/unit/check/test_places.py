"""Lines of a Dockerfile, and which of them made what was found."""

from pathlib import Path

import pytest
from tests.unit.check.images import file, layer, subject

from smlocal.check.interface import Finding
from smlocal.check.places import aligned, instructions, placer, stages, word_of
from smlocal.check.subject import HistoryStep
from smlocal.errors import DockerfileMissingError

DOCKERFILE = """\
# syntax=docker/dockerfile:1
ARG BASE=debian
FROM ${BASE} AS build
RUN make
ENTRYPOINT ["/other"]

FROM debian
ENV A=1 \\
    # a comment between
    B="two words"
RUN <<EOF
echo FROM nothing
USER nobody
EOF
COPY --from=build /x /usr/local/bin/
run apt-get update && \\
    apt-get install -y python3
VOLUME ["/data", "/opt/ml/model"]
USER app
ENTRYPOINT /usr/local/bin/x
"""


def test_instructions_and_their_lines() -> None:
    found = [(each.word, each.line) for each in instructions(DOCKERFILE)]
    assert found == [
        *(("ARG", 2), ("FROM", 3), ("RUN", 4), ("ENTRYPOINT", 5), ("FROM", 7), ("ENV", 8), ("RUN", 11)),
        *(("COPY", 15), ("RUN", 16), ("VOLUME", 18), ("USER", 19), ("ENTRYPOINT", 20)),
    ]
    assert stages(DOCKERFILE)[-1][0].line == 7


def test_another_escape_and_odd_ends() -> None:
    text = "# escape=`\nFROM x\nRUN a `\n  b\\\nCMD c \\"
    assert [(each.word, each.text) for each in instructions(text)] == [
        ("FROM", "x"),
        ("RUN", "a  b\\"),
        ("CMD", "c \\"),
    ]
    assert [each.word for each in instructions("FROM x\nRUN a \\\n")] == ["FROM", "RUN"]
    assert list(instructions("\n\n# nothing\n<<<\n")) == []


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ('/bin/sh -c #(nop)  ENTRYPOINT ["/bin/sh"]', "ENTRYPOINT"),
        ("/bin/sh -c #(nop) COPY file:ab in /usr/local/bin/train ", "COPY"),
        ("/bin/sh -c apt-get update", "RUN"),
        ("|1 TOKEN=x /bin/sh -c make", "RUN"),
        ("/bin/bash -o pipefail -c make", "RUN"),
        ("RUN /bin/sh -c make # buildkit", "RUN"),
        ("COPY train /usr/local/bin/train # buildkit", "COPY"),
        ('ENTRYPOINT ["python"]', "ENTRYPOINT"),
        ("USER nobody", "USER"),
        ("", ""),
    ],
)
def test_the_words_of_both_builders(text: str, word: str) -> None:
    assert word_of(text) == word


def history(*texts: str) -> list[dict[str, object]]:
    return [{"created_by": text, "empty_layer": not text.startswith(("RUN", "COPY", "ADD"))} for text in texts]


STEPS = history(
    *("ADD base", "CMD bash", "ENV A=1", "RUN one", "COPY x", "RUN two", "VOLUME /data", "USER app", "ENTRYPOINT x"),
)


def lines(steps: list[dict[str, object]], *findings: Finding, tmp_path: str) -> list[int]:
    path = f"{tmp_path}/Dockerfile"
    with open(path, "w") as into:
        into.write(DOCKERFILE)
    layers = sum(not step["empty_layer"] for step in steps)
    image = subject(*(layer(file(f"f{n}")) for n in range(layers)), history=steps)
    place = placer(path)(image)
    assert all(place(finding).file == path for finding in findings)
    return [place(finding).line for finding in findings]


def test_findings_are_placed_by_instruction_and_by_layer(tmp_path: object) -> None:
    found = [
        Finding(message="m", instruction="ENTRYPOINT"),
        Finding(message="m", instruction="ENV B"),
        Finding(message="m", instruction="VOLUME /opt/ml/model"),
        Finding(message="m", instruction="STOPSIGNAL"),
        Finding(message="m", layer=0),
        Finding(message="m", layer=1),
        Finding(message="m", layer=2),
        Finding(message="m", layer=3),
        Finding(message="m"),
    ]
    assert lines(STEPS, *found, tmp_path=str(tmp_path)) == [20, 8, 18, 0, 7, 11, 15, 16, 0]


def test_a_label_that_the_command_line_added_does_not_count(tmp_path: object) -> None:
    finding = Finding(message="m", layer=3)
    assert lines([*STEPS, *history("LABEL a=b")], finding, tmp_path=str(tmp_path)) == [16]


def test_the_dockerfile_of_another_image_places_no_layer() -> None:
    (stage,) = stages("FROM x\nCOPY a b\nRUN c\n")
    assert aligned(stage, [HistoryStep(text="COPY a b", layer=0), HistoryStep(text="CMD c")]) == ({}, False)
    made, whole = aligned(stage, [HistoryStep(text="RUN c", layer=4)])
    assert ([each.line for each in made.values()], whole) == ([3], False)


TARGETS = """\
ARG BASE=debian
FROM --platform=linux/amd64 ${BASE} AS Common
COPY train /usr/local/bin/
FROM common AS training
RUN one
USER app
FROM common AS serving
COPY serve /usr/local/bin/
USER www
"""


def test_a_stage_goes_on_from_another_of_the_same_file() -> None:
    assert [[each.line for each in stage] for stage in stages(TARGETS)] == [[2, 3], [2, 3, 4, 5, 6], [2, 3, 7, 8, 9]]
    assert stages("RUN nothing\n") == ()


def test_the_stage_that_the_image_was_built_to_is_found(tmp_path: Path) -> None:
    path = tmp_path / "Dockerfile"
    path.write_text(TARGETS)
    steps = history("ADD base", "COPY train", "RUN one", "USER app")
    image = subject(*(layer(file(f"f{n}")) for n in range(3)), history=steps)
    place = placer(str(path))(image)
    assert [place(Finding(message="m", layer=number)).line for number in range(3)] == [2, 3, 5]
    assert place(Finding(message="m", instruction="USER")).line == 6


def test_a_dockerfile_that_is_not_there() -> None:
    with pytest.raises(DockerfileMissingError, match="/nowhere/Dockerfile: No such file"):
        placer("/nowhere/Dockerfile")
