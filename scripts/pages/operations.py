"""The table of operations that the endpoint answers, from their handlers."""

from smlocal.endpoint.aws_calls import handlers
from smlocal.endpoint.objects.s3_front import _HANDLERS as OF_S3

_OF_RUNTIME = ("InvokeEndpoint", "InvokeEndpointWithResponseStream")


def operations_table() -> str:
    """One row for each service."""
    services = {
        "SageMaker": handlers("sagemaker"),
        "SageMaker Runtime": _OF_RUNTIME,
        "CloudWatch Logs": handlers("logs"),
        "CloudWatch": handlers("cloudwatch"),
        "STS": handlers("sts"),
        "IAM": handlers("iam"),
        "S3": OF_S3,
        "AWS Batch": handlers("batch"),
    }
    rows = (f"| {name} | {', '.join(f'`{each}`' for each in sorted(found))} |" for name, found in services.items())
    return "\n".join(("| service | operations |\n|---|---|", *rows))
