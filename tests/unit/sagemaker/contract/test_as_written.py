"""Advice about a number quotes what the file has, not what a parser made of it."""

import pytest

from smlocal.errors import RequestInvalidError
from smlocal.jobfile.reading import load_document
from smlocal.sagemaker.jobfile.job_file import read_job
from smlocal.sagemaker.serving.model_file import read_model

REST = """
AlgorithmSpecification: {TrainingImage: image, TrainingInputMode: File}
OutputDataConfig: {S3OutputPath: ./out}
ResourceConfig: {InstanceType: ml.m5.large, InstanceCount: %s}
"""


def said(text: str, *, name: str = "job.yaml") -> list[str]:
    with pytest.raises(RequestInvalidError) as caught:
        read_job(load_document(text, name=name, directory="/"), strict=False)
    return [detail.partition("   ")[2].strip() for detail in caught.value.details]


@pytest.mark.parametrize("number", ["010", "0x1F", "1e3", ".5", "+7", "0o17", "1.50", "-0", ".inf", "1e400", "True"])
def test_a_hyperparameter_in_yaml(number: str) -> None:
    kind = "a boolean" if number == "True" else "a number"
    advice = f'HyperParameters.a is {number} ({kind}) and must be a string: quote it, "{number}"'
    assert said(f"HyperParameters:\n  a: {number}" + REST % 1) == [advice]
    assert said(f"x: &x {{a: {number}}}\nHyperParameters: {{<<: *x}}" + REST % 1)[1] == advice


@pytest.mark.parametrize("number", ["1e3", "1.50", "-0.0", "1E+2"])
def test_a_hyperparameter_in_json(number: str) -> None:
    rest = '"AlgorithmSpecification": {"TrainingImage": "i", "TrainingInputMode": "File"}, '
    rest += (
        '"OutputDataConfig": {"S3OutputPath": "./o"}, "ResourceConfig": {"InstanceType": "local", "InstanceCount": 1}'
    )
    text = f'{{"HyperParameters": {{"b": "x", "a":\n {number}}}, {rest}}}'
    assert said(text, name="job.json") == [
        f'HyperParameters.a is {number} (a number) and must be a string: quote it, "{number}"'
    ]


def test_a_whole_number_is_written_out() -> None:
    assert said(REST % "1e1") == ["ResourceConfig.InstanceCount is 1e1 (a number) and must be a whole number: write 10"]
    assert said(REST % "1.5") == ["ResourceConfig.InstanceCount is 1.5 (a number) and must be a whole number"]


def test_what_a_flag_gave_is_not_looked_for_in_the_file() -> None:
    document = load_document("HyperParameters: {a: 010}" + REST % 1, name="job.yaml", directory="/")
    document.set(("HyperParameters", "a"), 5)
    with pytest.raises(RequestInvalidError, match="command line") as caught:
        read_job(document, strict=False)
    assert 'quote it, "5"' in caught.value.details[0]


def test_a_value_of_a_member_that_holds_no_text_is_shown() -> None:
    document = load_document("PrimaryContainer: {Image: i}\nLocal: {Serving: {Key: 1}}", name="m.yaml", directory="/")
    with pytest.raises(RequestInvalidError) as caught:
        read_model(document)
    assert "Local.Serving.Key is 1 (a number) and must be true or false" in caught.value.details[0]


def test_no_secret_is_quoted() -> None:
    assert said("HyperParameters: {db_password: 0123}" + REST % 1) == [
        "HyperParameters.db_password is ••• (a number) and must be a string: quote it"
    ]
    others = (
        "HyperParameters: {credentials: {password: hunter2}}",
        f"HyperParameters: {{db_password: {'hunter2' * 400}}}",
        f"HyperParameters: {{db_password: hunter2, {', '.join(f'p{n}: x' for n in range(101))}}}",
        "Environment: {DB_PASSWORD: hunter2, A-B: x}",
        f"Environment: {{DB_PASSWORD: {'hunter2' * 100}}}",
    )
    for text in others:
        assert "hunter2" not in "".join(said(text + REST % 1))
