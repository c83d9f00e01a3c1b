"""What the service states about containers that serve: ports, limits, names and sentences. Pure."""

from typing import Final

from smlocal.sagemaker.contract.identity import arn
from smlocal.sagemaker.contract.instance_types import type_gpus, type_neuron

NAME: Final = "sagemaker_hosting"
"""The name of this kind of jobs in the store."""
IN_ARN: Final = "endpoint"
MODELS: Final = "Models"
"""The list of CreateModel requests, in a file that has several."""
MOST_INSTANCES: Final = 100
"""The largest Local.Serving.MaxInstances."""
_USUAL_INSTANCES: Final = 2
"""Of one variant: two show whether an answer depends on what one of them remembers."""
PORT: Final = 8080
"""Where the container listens."""
PORT_LABEL: Final = "com.amazonaws.sagemaker.capabilities.accept-bind-to-port"
"""The label of an image whose program listens on the port that it is told. Models with several containers need it."""
VARIANT: Final = "AllTraffic"
"""The usual name of the only production variant."""
PRIMARY: Final = "primary"
"""What messages call the only container."""
STARTUP_SECONDS: Final = 480.0
"""Until the first ping must have been answered, without ContainerStartupHealthCheckTimeoutInSeconds."""
PING_SECONDS: Final = 2.0
"""For the answer to one ping."""
INVOCATION_SECONDS: Final = 60.0
"""For the answer to an invocation; of a streamed one, until it begins (inferred)."""
STREAM_SECONDS: Final = 480.0
"""For the whole answer of InvokeEndpointWithResponseStream (the developer guide, since 2025)."""
MOST_BODY: Final = 25 << 20
"""Bytes of a request: 25 MB (the developer guide, since 2025). That they are counted like MODEL_BODY is inferred."""
MODEL_BODY: Final = 6_291_456
"""The maximum of Body in the service's model, and 6 MB in the guide before."""
INVOKED, STREAMED = "invocations", "invocations-response-stream"
"""The ends of the paths of InvokeEndpoint and InvokeEndpointWithResponseStream."""
MOST_ENVIRONMENT: Final = 32 << 10
"""Bytes of all keys and values of Environment in the containers of one model: 32 KB (the API reference)."""
STOP_SECONDS: Final = 30
"""From SIGTERM to SIGKILL."""
PASSED: Final = frozenset(
    {
        "accept",
        "content-type",
        "x-amzn-sagemaker-custom-attributes",
        "x-amzn-sagemaker-inference-id",
        "x-amzn-sagemaker-target-model",
        "x-amzn-sagemaker-target-variant",
        "x-amzn-sagemaker-target-container-hostname",
        "x-amzn-sagemaker-enable-explanations",
        "x-amzn-sagemaker-session-id",
        "x-amzn-sagemaker-prefix-aware-id",
    }
)
"""The headers that InvokeEndpoint has, in small letters. Others of a client do not reach the container."""
RETURNED: Final = {
    "content-type": "Content-Type",
    "x-amzn-sagemaker-custom-attributes": "X-Amzn-SageMaker-Custom-Attributes",
    "x-amzn-sagemaker-new-session-id": "X-Amzn-SageMaker-New-Session-Id",
    "x-amzn-sagemaker-closed-session-id": "X-Amzn-SageMaker-Closed-Session-Id",
}
"""The headers of a container's answer that reach the client."""
INVOKED_VARIANT: Final = "x-Amzn-Invoked-Production-Variant"
MOST_HEADER: Final = 1024
"""Characters of one of these headers."""


def port(number: int, *, several: bool) -> int:
    """Where a container listens; beside others on a port of its own. Which one is inferred."""
    return PORT + 100 * number if several else PORT


def safe_ports(listens: int) -> str:
    """Ports that the platform leaves to a container that listens there."""
    return f"{listens + 1}-{listens + 19}"


def usual_instances(instance_type: str) -> int:
    """How many instances of a variant are run here at most, if nothing says that. GPUs are few."""
    return 1 if type_gpus(instance_type) or type_neuron(instance_type) else _USUAL_INSTANCES


def instance_name(variant: str, number: int) -> str:
    """The name of one instance of a variant; the service has its id here."""
    return variant if number == 1 else f"{variant}.{number}"


def numbered_container(number: int) -> str:
    """What the service calls a container without a ContainerHostname, beside others (the guide, on logs)."""
    return f"container-{number}"


def log_stream_arn(name: str, *, region: str, account: str) -> str:
    """LogStreamArn of a ModelError: that of the group of logs."""
    return arn("logs", f"log-group:/aws/sagemaker/Endpoints/{name}", region=region, account=account)


def not_healthy(variant: str, called: str = PRIMARY) -> str:
    """The reason of an endpoint that no ping reached in time (seen, of a primary container)."""
    return (
        f"The {called} container for production variant {variant} did not pass the ping health check. "
        "Please check CloudWatch logs for this endpoint."
    )


def not_extracted(uri: str, number: int = 1) -> str:
    """The reason of an endpoint whose archive cannot be unpacked (seen)."""
    return (
        f'Failed to extract model data archive for container "container_{number}" from URL "{uri}". '
        "Please ensure that the object located at the URL is a valid tar.gz archive."
    )


def not_downloaded(uri: str, number: int = 1) -> str:
    """The reason of an endpoint whose model cannot be read (seen)."""
    return (
        f'Failed to download model data for container "container_{number}" from URL: "{uri}". Please ensure that '
        "there is an object located at the URL and that the role passed to CreateModel has permissions to download the "
        "object."
    )


def timed_out(called: str = PRIMARY) -> str:
    """The message of a container that does not answer in time (seen)."""
    return (
        f"Your invocation timed out while waiting for a response from container {called}. Review the latency metrics "
        "for each container in Amazon CloudWatch, resolve the issue, and try again."
    )


def unknown_variant(name: str, *, endpoint: str) -> str:
    """The message for a TargetVariant that the endpoint does not have. The words are inferred."""
    return f"Variant {name} is not found in endpoint {endpoint}."


def unknown_container(name: str) -> str:
    """The message for a TargetContainerHostname that no container has: the guide names the error, not its words."""
    return f"The container {name} specified in TargetContainerHostname does not exist in the endpoint."


def no_target() -> str:
    """The message for a request without one to an endpoint with direct invocation: as above."""
    return "TargetContainerHostname must be specified for an endpoint that is configured for direct invocation."


def not_direct(name: str) -> str:
    """The message for a request with one to another endpoint: as above."""
    return (
        f"TargetContainerHostname {name} was specified, but the endpoint is not configured for direct invocation of "
        "containers."
    )


def model_error(name: str, *, status: int, message: str, region: str, account: str, called: str = PRIMARY) -> str:
    """The message of ModelError (seen). `status` 0: the container gave no whole answer."""
    kind = "client" if 400 <= status < 500 else "server"  # noqa: PLR2004 - HTTP
    console = (
        f"https://{region}.console.aws.amazon.com/cloudwatch/home?region={region}"
        f"#logEventViewer:group=/aws/sagemaker/Endpoints/{name}"
    )
    return (
        f'Received {kind} error ({status}) from {called} with message "{message}". '
        f"See {console} in account {account} for more information."
    )


def unknown_endpoint(name: str, *, account: str) -> str:
    """The message of ValidationError for an endpoint that is not there, or not in service (seen)."""
    return f"Endpoint {name} of account {account} not found."


def too_large(size: str, most: int) -> str:
    """The message of a request with too many bytes (seen)."""
    return f"Request {size} has exceeded the upper limit of {most} bytes."
