"""Tags of an endpoint that was deployed by hand and that a client changes."""

from collections.abc import Callable

from tests.unit.endpoint.conftest import Ask
from tests.unit.report.conftest import StoredJob

NAME = "tagged-by-hand"
TAGS = [{"Key": "team", "Value": "a"}]
VARIANT = {"VariantName": "AllTraffic", "ModelName": "m", "InstanceType": "ml.m5.large", "InitialInstanceCount": 1}


def test_tags_stay_when_a_client_changes_the_weights(ask: Ask, store_job: Callable[..., StoredJob]) -> None:
    request = {"EndpointName": NAME, "ProductionVariants": [VARIANT], "Tags": TAGS}
    store_job(NAME, platform="sagemaker_hosting", request=request)
    arn = ask("sagemaker", "DescribeEndpoint", EndpointName=NAME)["EndpointArn"]
    assert ask("sagemaker", "ListTags", ResourceArn=arn)["Tags"] == TAGS
    weights = [{"VariantName": "AllTraffic", "DesiredWeight": 2.0}]
    ask("sagemaker", "UpdateEndpointWeightsAndCapacities", EndpointName=NAME, DesiredWeightsAndCapacities=weights)
    assert ask("sagemaker", "ListTags", ResourceArn=arn)["Tags"] == TAGS
