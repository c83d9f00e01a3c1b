"""Models, configurations and endpoints of the image `serve`, as clients make them."""

import io
import tarfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import pytest
from botocore.exceptions import ClientError
from tests.kit.answer_shapes import client_of

ROLE = "arn:aws:iam::123456789012:role/hosting"
ACCOUNT = "123456789012"


def archive(files: Mapping[str, str] = {"weights.txt": "trained"}) -> bytes:
    """A packed model."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as file:
        for name, text in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(text)
            file.addfile(info, io.BytesIO(text.encode()))
    return packed.getvalue()


def refused(call: Callable[..., Any], **parameters: Any) -> tuple[str, str]:
    """Code and message of the error."""
    with pytest.raises(ClientError) as error:
        call(**parameters)
    found = error.value.response["Error"]
    return found["Code"], found["Message"]


@dataclass(frozen=True, kw_only=True)
class Endpoints:
    """Clients of one server."""

    address: str
    image: str

    @property
    def sagemaker(self) -> Any:
        return client_of(self.address, "sagemaker")

    @property
    def runtime(self) -> Any:
        return client_of(self.address, "sagemaker-runtime")

    def configure(self, name: str, *, variant: Mapping[str, Any] | None = None, **variables: str) -> None:
        """A model and a configuration of this name, whose containers have these variables."""
        self.model(name, **variables)
        self.configuration(name, name, **(variant or {}))

    def model(self, name: str, **variables: str) -> None:
        container = {"Image": self.image, "Environment": variables}
        self.sagemaker.create_model(ModelName=name, ExecutionRoleArn=ROLE, PrimaryContainer=container)

    def configuration(self, name: str, model: str, **members: Any) -> None:
        variant = {
            "VariantName": "AllTraffic",
            "ModelName": model,
            "InstanceType": "ml.m5.large",
            "InitialInstanceCount": 1,
            **members,
        }
        self.sagemaker.create_endpoint_config(EndpointConfigName=name, ProductionVariants=[variant])

    def endpoint(self, name: str, config: str | None = None) -> str:
        """In service; its ARN."""
        arn = self.sagemaker.create_endpoint(EndpointName=name, EndpointConfigName=config or name)["EndpointArn"]
        self.sagemaker.get_waiter("endpoint_in_service").wait(EndpointName=name)
        return str(arn)

    def described(self, name: str) -> dict[str, Any]:
        found: dict[str, Any] = self.sagemaker.describe_endpoint(EndpointName=name)
        return found

    def invoke(self, name: str, body: bytes = b"1,2", **members: Any) -> bytes:
        answer: bytes = self.runtime.invoke_endpoint(EndpointName=name, Body=body, **members)["Body"].read()
        return answer

    def delete(self, name: str) -> None:
        """Delete it, and wait until it is gone."""
        self.sagemaker.delete_endpoint(EndpointName=name)
        self.sagemaker.get_waiter("endpoint_deleted").wait(EndpointName=name)
