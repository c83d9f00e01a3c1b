"""Images of jobs that are submitted: what Amazon ECR says about them."""

from typing import Any

import pytest
from tests.unit.service.aws_answers import aws_answering

from smlocal.errors.of_commands import ImageNotInEcrError
from smlocal.service import submission, tuning_submission
from smlocal.service.service import Service

pytestmark = pytest.mark.usefixtures("aws_user")
IMAGE = "123456789012.dkr.ecr.eu-west-1.amazonaws.com/held:1"
DEFINITION: dict[str, Any] = {"AlgorithmSpecification": {"TrainingImage": IMAGE, "TrainingInputMode": "File"}}
TUNING: dict[str, Any] = {
    "HyperParameterTuningJobConfig": {"Strategy": "Random", "ResourceLimits": {"MaxParallelTrainingJobs": 1}},
    "TrainingJobDefinitions": [{**DEFINITION, "DefinitionName": "one"}],
}


def test_an_image_that_ecr_does_not_have_is_pushed_or_another_one_named() -> None:
    gone = (400, {"__type": "ImageNotFoundException", "message": "it does not exist"})
    with aws_answering({"DescribeImages": gone}) as address:
        service = Service(endpoint_url=address)
        with pytest.raises(ImageNotInEcrError) as training:
            submission.check_image(service, DEFINITION)
        with pytest.raises(ImageNotInEcrError) as tuning:
            tuning_submission.check_image(service, TUNING)
    assert training.value.remedy == (f"Push it:  docker push {IMAGE}", "Or name another one with --image.")
    place = "TrainingJobDefinitions.1.member.AlgorithmSpecification.TrainingImage"
    assert tuning.value.remedy == (f"Push it:  docker push {IMAGE}", f"Or name another one in {place}.")


def test_a_registry_that_may_not_be_asked_is_no_error() -> None:
    with aws_answering({"DescribeImages": (400, {"__type": "AccessDeniedException", "message": "no"})}) as address:
        said = tuning_submission.check_image(Service(endpoint_url=address), TUNING)
    assert said is not None
    assert said.startswith("smlocal could not find out whether Amazon ECR has the image")
