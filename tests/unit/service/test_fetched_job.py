from typing import Any

import pytest
from tests.unit.service.aws_answers import Answers, aws_answering

from smlocal.errors import UsageRefusedError
from smlocal.service.described_job import FetchedJob, fetch_job, is_job_arn

DIGEST = f"sha256:{'9f' * 32}"
BEGAN = 1_700_000_000.0
DENIED = (400, {"__type": "AccessDeniedException", "message": "no"})


def answers(answer: dict[str, Any], **others: tuple[int, dict[str, Any]]) -> Answers:
    timed = {**answer, "CreationTime": BEGAN, "SecondaryStatusTransitions": []}
    timed.pop("ResponseMetadata")
    return {
        "DescribeTrainingJob": (200, timed),
        "ListTags": (200, {"Tags": [{"Key": "team", "Value": "a"}]}),
        "DescribeImages": (200, {"imageDetails": [{"imageDigest": DIGEST, "imagePushedAt": BEGAN - 60}]}),
        **others,
    }


def fetch(said: Answers, user: pytest.MonkeyPatch, name: str = "held-tree", region: str | None = None) -> FetchedJob:
    with aws_answering(said) as address:
        user.setenv("AWS_ENDPOINT_URL", address)
        return fetch_job(name, profile=None, region=region)


def test_a_job_with_its_tags_and_the_digest_of_its_image(answer: dict[str, Any], aws_user: pytest.MonkeyPatch) -> None:
    fetched = fetch(answers(answer), aws_user)
    assert fetched.job.request["Tags"] == [{"Key": "team", "Value": "a"}]
    assert fetched.job.request["HyperParameters"] == answer["HyperParameters"]
    assert fetched.notes == (f"{answer['AlgorithmSpecification']['TrainingImage']} is {DIGEST} now.",)


def test_a_tag_that_was_moved_after_the_job_began(answer: dict[str, Any], aws_user: pytest.MonkeyPatch) -> None:
    moved = (200, {"imageDetails": [{"imageDigest": DIGEST, "imagePushedAt": BEGAN + 60}]})
    (note,) = fetch(answers(answer, DescribeImages=moved), aws_user).notes
    assert note.endswith("after the job began: the job ran another image.")


def test_what_may_not_be_read_is_told(answer: dict[str, Any], aws_user: pytest.MonkeyPatch) -> None:
    fetched = fetch(answers(answer, ListTags=DENIED, DescribeImages=DENIED), aws_user)
    assert "Tags" not in fetched.job.request
    tags, image = fetched.notes
    assert tags == "Tags are not known: the AWS credentials may not do sagemaker:ListTags."
    assert "is not known (DescribeImages: AccessDeniedException: no): its tag may name another image now." in image


@pytest.mark.parametrize("image", ["held:1", f"123456789012.dkr.ecr.eu-west-1.amazonaws.com/held@{DIGEST}"])
def test_an_image_of_which_ecr_says_nothing_more(
    image: str, answer: dict[str, Any], aws_user: pytest.MonkeyPatch
) -> None:
    answer["AlgorithmSpecification"]["TrainingImage"] = image
    said = answers(answer)
    del said["DescribeImages"]
    assert fetch(said, aws_user).notes == ()


def test_an_arn_names_the_region_too(answer: dict[str, Any], aws_user: pytest.MonkeyPatch) -> None:
    aws_user.delenv("AWS_DEFAULT_REGION")
    assert is_job_arn(answer["TrainingJobArn"])
    assert fetch(answers(answer), aws_user, answer["TrainingJobArn"]).job.name == "held-tree"


def test_what_can_be_no_name() -> None:
    with pytest.raises(UsageRefusedError, match="neither a file nor the name"):
        fetch_job("held tree", profile=None, region=None)
    assert not is_job_arn("arn:aws:sagemaker:eu-west-1:123456789012:processing-job/held")
