"""SDK v3: the resources of a model, its configuration and its endpoint; asked, updated, deleted."""

import json
import logging
import sys

from sagemaker.core.resources import Endpoint, EndpointConfig, Model
from sagemaker.core.shapes import ContainerDefinition, ProductionVariant

image, name = sys.argv[1:]
logging.basicConfig(level=logging.INFO, stream=sys.stdout)
role = "arn:aws:iam::123456789012:role/hosting"


def configuration(called: str, **variables: str) -> EndpointConfig:
    container = ContainerDefinition(image=image, environment=variables)
    model = Model.create(model_name=called, primary_container=container, execution_role_arn=role)
    variant = ProductionVariant(
        variant_name="AllTraffic", model_name=model, instance_type="ml.m5.large", initial_instance_count=1
    )
    return EndpointConfig.create(endpoint_config_name=called, production_variants=[variant])


endpoint = Endpoint.create(endpoint_name=name, endpoint_config_name=configuration(name))
endpoint.wait_for_status("InService", poll=1)
first = endpoint.invoke(body=b"1,2", content_type="text/csv")

configuration(f"{name}-after", ANSWER="json")
endpoint.endpoint_config_name = f"{name}-after"
endpoint.update()
endpoint.wait_for_status("InService", poll=1)
second = json.loads(endpoint.invoke(body=b"1,2", content_type="text/csv").body.read())
found = [each.endpoint_name for each in Endpoint.get_all(name_contains=name)]
endpoint.delete()
endpoint.wait_for_delete(poll=1)
for each in (name, f"{name}-after"):
    EndpointConfig.get(each).delete()
    Model.get(each).delete()
print(
    json.dumps(
        {
            "first": first.body.read().decode(),
            "variant": first.invoked_production_variant,
            "second": second["body"],
            "found": found,
            "left": [len(list(each.get_all())) for each in (Endpoint, EndpointConfig, Model)],
        }
    )
)
