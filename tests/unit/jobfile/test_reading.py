from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smlocal.errors import JobFileSyntaxError, RequestInvalidError, SmlocalError
from smlocal.jobfile.document import Document
from smlocal.jobfile.reading import load_document


def load(text: str, name: str = "job.yaml") -> Document:
    return load_document(text, name=name, directory="/somewhere")


def refused(text: str, name: str = "job.yaml") -> JobFileSyntaxError:
    with pytest.raises(JobFileSyntaxError) as caught:
        load(text, name)
    assert caught.value.exit_code == 2
    return caught.value


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("true", True),
        ("False", False),
        ("yes", "yes"),
        ("no", "no"),
        ("on", "on"),
        ("off", "off"),
        ("y", "y"),
        ("~", None),
        ("null", None),
        ("", None),
        ("None", "None"),
        ("12", 12),
        ("+12", 12),
        ("010", 10),
        ("0o17", 15),
        ("0x1f", 31),
        ("1_000", "1_000"),
        ("1:30", "1:30"),
        ("0.5", 0.5),
        (".5", 0.5),
        ("1e3", 1000.0),
        ("1e-3", 0.001),
        (".inf", float("inf")),
        ("2020-01-01", "2020-01-01"),
        ("2020-01-01T00:00:00Z", "2020-01-01T00:00:00Z"),
        ("'12'", "12"),
        ("!!str 12", "12"),
        ("=", "="),
    ],
)
def test_scalars_are_those_of_yaml_1_2(written: str, value: Any) -> None:
    data = load(f"a: {written}\n").data
    assert data == {"a": value}
    assert type(data["a"]) is type(value)


def test_json_is_read_as_json_and_flow_yaml_as_yaml() -> None:
    assert load('{"a": {"b": [1, null, true, "x"]}}').data == {"a": {"b": [1, None, True, "x"]}}
    assert load("{a: [1, yes]}").data == {"a": [1, "yes"]}
    assert load("\ufeffa: 1").data == {"a": 1}


def test_anchors_and_merges() -> None:
    text = "base: &b {x: 1, y: 2}\nfirst:\n  inner: &i {<<: *b, x: 3}\nlast: {<<: *i}\nlist: [*b, *b]\n"
    data = load(text).data
    assert data["last"] == {"x": 3, "y": 2}
    # Aliases are copies: a flag that changes one place changes that place only.
    data["list"][0]["x"] = 9
    assert data["list"][1]["x"] == data["base"]["x"] == 1


YAML = """\
# a comment
TrainingJobName: a
InputDataConfig:
  - ChannelName: train
    DataSource:
      S3DataSource: {S3Uri: ./a}
  -
    ChannelName: test
"""
JSON = """\
{
  "TrainingJobName": "a",
  "InputDataConfig": [
    {"ChannelName": "train",
\t "DataSource": {"S3DataSource": {"S3Uri":
       "./a"}}},
    {
      "ChannelName": "test"
    }, [], [1,
    2]
  ]
}
"""


@pytest.mark.parametrize(
    ("text", "lines"), [(YAML, (1 + 1, 2, 3, 4, 6, 8, None)), (JSON, (1, 2, 3, 4, 5, 8, 10))], ids=["yaml", "json"]
)
def test_lines(text: str, lines: tuple[int | None, ...]) -> None:
    document = load(text)
    inner = ("InputDataConfig", 0, "DataSource", "S3DataSource", "S3Uri")
    paths = ((), ("TrainingJobName",), ("InputDataConfig",), ("InputDataConfig", 0), inner)
    more = (("InputDataConfig", 1, "ChannelName"), ("InputDataConfig", 3, 1))
    assert tuple(document.line(path) for path in (*paths, *more)) == lines
    assert document.line(("Nothing",)) is None
    assert document.where((*inner, "deeper")) == f"job.yaml:{lines[4]}"


def test_flags_override_and_have_no_line() -> None:
    document = load("A: {B: 1}\nL:\n- x: 1\n")
    document.set(("A", "B"), 2)
    document.set(("L", 1, "x"), 3)
    document.set(("New", "Deep"), "v")
    document.set(("Empty",), [])
    assert document.data == {"A": {"B": 2}, "L": [{"x": 1}, {"x": 3}], "New": {"Deep": "v"}, "Empty": []}
    assert document.line(("A", "B")) is None
    assert document.line(("A",)) == 1
    assert document.where(("A", "B")) == "command line"
    assert document.where(("L", 0, "x")) == "job.yaml:3"


def test_a_flag_cannot_reach_into_a_scalar() -> None:
    document = load("A: text\nL: [1]\n")
    with pytest.raises(RequestInvalidError, match=r"A\.B cannot be set: A is neither a map nor a list") as caught:
        document.set(("A", "B"), 1)
    assert caught.value.details == ("job.yaml:1",)
    with pytest.raises(RequestInvalidError):
        document.set(("L", 5), 1)


@pytest.mark.parametrize(
    ("text", "sentence", "details"),
    [
        ("a: [1\nb: 2", "is not YAML", ("job.yaml:2:2   did not find expected ',' or ']'", "  b: 2")),
        ("a:\n\tb: 2", "is not YAML", ("job.yaml:2:1   a tab; YAML is indented with spaces", "  \tb: 2")),
        ("a: b: c", "is not YAML", ("job.yaml:1:5   mapping values are not allowed in this context", "  a: b: c")),
        ("", "is empty", ()),
        (" \n\n", "is empty", ()),
        ("# nothing\n", "contains only comments, no request", ()),
        ("- a\n- b", "contains a list instead", ()),
        ("text", "contains a string instead", ()),
        ("a: 1\nb:\n  1: x", "has a key that is not a string", ("job.yaml:3   b.1 is a number",)),
        ("true: x", "has a key that is not a string", ("job.yaml:1   True is a boolean",)),
        ("a:\n  b: 1\n  b: 2\n", "has the key b twice in one map", ("job.yaml:3   b", "job.yaml:2   first here")),
        ('{"a": 1,\n"a": 2}', "has the key a twice in one object", ("job.yaml:2   a", "job.yaml:1   first here")),
        ("a: 1\n---\nb: 2", "is not YAML", ("job.yaml:2:1   but found another document", "  ---")),
        ("a: !mine x", "is not YAML", ("job.yaml:1:4   the tag !mine is not supported", "  a: !mine x")),
        ("a: !!int b", "is not YAML", ("job.yaml:1:4   b is not a number", "  a: !!int b")),
        ("? [a]\n: b", "is not YAML", ("job.yaml:1:3   found unhashable key", "  ? [a]")),
        ("a: &x [*x]", "too large for a request: more than 50 levels deep", ("job.yaml:1   at a[0][0]…",)),
    ],
)
def test_what_cannot_be_read_is_shown(text: str, sentence: str, details: tuple[str, ...]) -> None:
    error = refused(text)
    assert sentence in error.sentence
    assert error.details == details


def test_merges_that_multiply_are_refused() -> None:
    lines = ["a0: &a0 {k: v}"] + [f"a{n}: &a{n} {{<<: [{', '.join([f'*a{n - 1}'] * 10)}]}}" for n in range(1, 10)]
    error = refused("\n".join(lines))
    assert error.sentence == "job.yaml is not YAML"
    assert "<< merges more than 20,000 parts" in error.details[0]
    assert error.details[0].startswith("job.yaml:6:")


def test_merges_take_the_first_of_a_list_and_the_maps_own_keys_win() -> None:
    data = load("a: &a {x: 1, y: 1}\nb: &b {x: 2, z: 2}\nc: &c {y: 3, <<: [*a, *b]}\nd: {<<: *c, z: 4}").data
    assert data["c"] == {"x": 1, "y": 3, "z": 2}
    assert data["d"] == {"x": 1, "y": 3, "z": 4}


def test_only_maps_can_be_merged() -> None:
    assert refused("a: {<<: 1}").details[0] == "job.yaml:1:9   only maps can be merged"
    assert refused("a: {<<: [1]}").details[0] == "job.yaml:1:10   only maps can be merged"


@pytest.mark.slow(0.5)
@pytest.mark.parametrize(
    ("text", "remedy"),
    [
        ("HyperParameters:\n" + "".join(f"  p{n}: v\n" for n in range(20_001)), "Is this a job file?"),
        ('{"HyperParameters": {' + ", ".join(f'"p{n}": "v"' for n in range(20_001)) + "}}", "Is this a job file?"),
        ("a: " + "[" * 60 + "]" * 60, "Is this a job file?"),
        ("a: &a [x]\n" + "".join(f"p{n}: *a\n" for n in range(10_001)), "Look for an alias"),
        ("a: &a [*a]", "Look for an alias"),
    ],
)
def test_the_remedy_for_a_file_that_is_too_large_fits(text: str, remedy: str) -> None:
    error = refused(text)
    assert "too large for a request" in error.sentence
    assert remedy in error.remedy[0]


def test_json_by_its_name_is_told_as_json() -> None:
    error = refused('{"a" 1}', "job.json")
    assert error.sentence == "job.json is not JSON"
    assert error.details == ("job.json:1:6   Expecting ':' delimiter", '  {"a" 1}')


@pytest.mark.parametrize(
    "text",
    [
        "a: !!python/object/apply:os.system [touch /tmp/never]",
        "a: \x01",
        "a: \ud800",
        '{"a": "\\ud800"}',
        "a: " + "[" * 100_000,
        '{"a": ' + "[" * 100_000,
        "- " * 50_000,
        "a: " + "9" * 5000,
        '{"a": ' + "9" * 5000 + "}",
        "\n".join(f"a{n}: &a{n} [*a{n - 1}, *a{n - 1}]" if n else "a0: &a0 [x, x]" for n in range(20)),
        "a: !!bool x",
        "a: !!int []",
        "!!map [a]",
    ],
    ids=range(13),
)
def test_what_is_hostile_is_refused(text: str) -> None:
    refused(text)


@given(st.text() | st.text(alphabet="ab:- \n{}[],\"'&*!<?|>#1~"))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        document = load(text)
    except SmlocalError as error:
        document = Document({}, name=error.sentence, directory="/")
    else:
        assert document.line(()) is not None
    assert document.name
    assert isinstance(document.data, dict)
