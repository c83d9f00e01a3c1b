"""Job files that are far larger than any request, or would become it: one error with a line, before any work."""

import json

import pytest

from smlocal.errors import JobFileSyntaxError, RequestInvalidError
from smlocal.jobfile.reading import load_document
from smlocal.sagemaker.jobfile.job_file import read_job
from smlocal.terms.masking import HIDDEN, masked

_MEBI = 1 << 20


def refused(text: str, name: str = "job.yaml") -> JobFileSyntaxError:
    with pytest.raises(JobFileSyntaxError) as caught:
        load_document(text, name=name, directory="/")
    assert max(map(len, (caught.value.sentence, *caught.value.details, *caught.value.remedy))) < 400
    return caught.value


def invalid(data: dict[str, object]) -> RequestInvalidError:
    document = load_document(json.dumps(data), name="job.json", directory="/")
    with pytest.raises(RequestInvalidError) as caught:
        read_job(document, strict=False)
    return caught.value


@pytest.mark.slow(0.5)
@pytest.mark.parametrize(
    ("text", "what", "where"),
    [
        ('{"Tags":\n[' + "{}," * _MEBI + "{}]}", "more than 20,000 parts", "job.yaml:2   here"),
        ("Tags:\n" + "- {}\n" * _MEBI, "more than 20,000 parts", "job.yaml:79999   here"),
        ("Tags: [" + "1, " * _MEBI + "1]", "more than 20,000 parts", "job.yaml:1   here"),
        ('{"a":\n' + "[" * _MEBI, "more than 50 levels deep", "job.yaml:2   here"),
        ('{"a":\n' * 60 + "1" + "}" * 60, "more than 50 levels deep", "job.yaml:51   at a.a.a…"),
        ("a:\n  b:\n    " + "[" * 60 + "]" * 60, "more than 50 levels deep", "job.yaml:3   at a.b[0]…"),
        ("a: &a [x]\nb:\n" + "- *a\n" * 10_001, "more than 20,000 parts", "job.yaml:1   at b[9998][0]…"),
    ],
)
def test_parts_and_levels_are_counted_first(text: str, what: str, where: str) -> None:
    error = refused(text)
    assert error.sentence == f"job.yaml is too large for a request: {what}"
    assert error.details == (where,)


@pytest.mark.slow(0.5)
@pytest.mark.parametrize(
    ("use", "where"),  # the line of what an item of a list refers to: the parser does not tell that of the alias
    [("- *x\n", "job.yaml:1   at Tags[8]…"), ("- {*x : 1}\n", "job.yaml:11   at Tags[8]…")],
    ids=["values", "keys"],
)
def test_the_text_that_aliases_repeat_is_counted(use: str, where: str) -> None:
    error = refused(f"a: &x {'v' * _MEBI}\nTags:\n" + use * 6_000)
    assert error.sentence == "job.yaml is too large for a request: more than 10 MiB of text"
    assert error.details == (where,)
    assert error.remedy == ("Look for an alias (*name) that repeats or contains itself.",)


@pytest.mark.slow(0.5)
def test_a_list_that_contains_itself_is_not_written_out_to_find_a_line() -> None:
    error = refused("a: &a [" + "x, " * 15_000 + "*a]\n")
    assert error.details[0].startswith("job.yaml:1 ")
    assert refused("a: &a {b: *a}\n1: x\n").details == ("job.yaml:1   at a.b.b…",)


def test_a_repeated_key_is_found_among_many() -> None:
    keys = [f'"k{number}": 0' for number in range(15_000)]
    error = refused("{" + ",\n".join([*keys, keys[-2]]) + "}", "job.json")
    assert error.details == ("job.json:15001   k14998", "job.json:14999   first here")


@pytest.mark.parametrize(
    "text",
    [
        f'{{"{"k" * _MEBI}": 1, "{"k" * _MEBI}": 2}}',
        f"? {'k' * _MEBI}\n: 1\n? {'k' * _MEBI}\n: 2\n",
        f"a: *{'t' * _MEBI}\n",
        f"a: !{'t' * _MEBI} x\n",
        f"a: {'1' * _MEBI}\n",
        f"{'k' * _MEBI}:\n  1: x\n",
        f'{{"a": {"x" * _MEBI}: 1}}}}',
        f"? [{'k' * _MEBI}]\n: 1\n",
    ],
    ids=["json key", "yaml key", "alias", "tag", "number", "path", "word", "list as key"],
)
def test_an_error_shows_only_the_beginning_of_a_text(text: str) -> None:
    refused(text)


def test_mistakes_are_looked_for_up_to_a_thousand() -> None:
    error = invalid({"InputDataConfig": [{"ChannelName": "a b"}] * 5_000})
    assert (
        error.sentence == "at least 2,000 problems in job.json"
    )  # a thousand of the model, and of the rules between members
    assert len(error.details) == 31
    assert error.details[-1] == "… and 1,970 more"
    assert error.service_message is not None
    assert len(error.service_message) < 100_000


@pytest.mark.slow(0.5)
@pytest.mark.parametrize(
    "text", ["v" * _MEBI, "a://b:c/" * (_MEBI // 8), "{" * _MEBI, "é" * _MEBI, "a" * _MEBI + " x://u@h?"]
)
def test_a_value_in_a_message_is_shortened(text: str) -> None:
    error = invalid(
        {"TrainingJobName": text, "HyperParameters": {text: text}, "Tags": text, text: 1, "Environment": {"A": text}}
    )
    assert max(map(len, error.details)) < 1_000
    assert len(error.service_message or "") < 30_000


def test_a_regex_that_is_too_long_is_not_compiled() -> None:
    regexes = [{"Name": "a", "Regex": "(" * (_MEBI // 16)}] * 100
    error = invalid(
        {"AlgorithmSpecification": {"TrainingImage": "i", "TrainingInputMode": "File", "MetricDefinitions": regexes}}
    )
    assert not [line for line in error.details if "not a valid regular expression" in line]


def test_a_long_value_is_hidden_as_a_whole() -> None:
    assert masked("text", "a" * 16_384) == "a" * 16_384
    assert masked("text", "a" * 16_385) == HIDDEN
    assert masked("text", '{"password": "x", "a": ' + "[" * 950 + "]" * 950 + "}") == HIDDEN
