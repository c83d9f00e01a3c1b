"""Strategies for the parameters of operations, made from botocore's models."""

import re
from functools import cache
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

NAMES = tuple(f"job-{number}" for number in range(30))
"""Few, so that requests meet the jobs of others."""
_MOST_OPTIONAL = 5
_DEEPEST = 6
_USUAL: dict[str, tuple[Any, ...]] = {
    "TrainingJobName": NAMES,
    "ResourceArn": tuple(f"arn:aws:sagemaker:us-east-1:000000000000:training-job/{name}" for name in NAMES),
    "RoleArn": ("arn:aws:iam::000000000000:role/any",),
    "TrainingImage": ("image", "123456789012.dkr.ecr.us-east-1.amazonaws.com/image:1"),
    "S3Uri": ("s3://bucket/data", "s3://other/", "/data", "file:///data"),
    "S3OutputPath": ("s3://bucket/out", "/out"),
    "InstanceType": ("ml.m5.large", "ml.p3.2xlarge"),
    "InstanceCount": (1, 2, 100),
    "MaxRuntimeInSeconds": (60,),
    "logGroupName": ("/aws/sagemaker/TrainingJobs", "other"),
    "logStreamName": ("running/algo-1-1790000000", "job-1/algo-1-1", "none"),
    "logStreamNames": (["running/algo-1-1790000000"],),
    "logStreamNamePrefix": ("running/", "job", ""),
    "filterPattern": ("", "line", '"line 1"', "-line", "?a ?b", "{ $.a = 1 }", "[a, b]", '"', "%a%"),
    "Namespace": ("/aws/sagemaker/TrainingJobs", "other"),
    "MetricName": ("loss", "CPUUtilization"),
    "Resource": ("TrainingJob", "Experiment"),
    "Period": (60, 1, 3600),
    "StartTime": (1_790_000_000, 0),
    "EndTime": (1_790_003_600, 2_000_000_000),
    "startTime": (1_790_000_000_000, 0),
    "endTime": (1_790_003_600_000,),
    "RoleName": ("smlocal", "any"),
    "NextToken": ("10", "WzEuMCwgMV0=", "MQ==", "x"),
    "nextToken": ("10", "f/0", "b/0", "x"),
}
_TEXTS = st.one_of(
    st.sampled_from(
        ["", "a", "s3://bucket/../x", "../..", "\x00", "\ud800", "é", "😀", "null", "0", "-1", "1e400", "x" * 300]
    ),
    st.text(max_size=20),
    st.text(alphabet="\ud800\udfff\x00\x1f\x7f\ufffe\uffff<>&\"'%{}[]\\", max_size=6),
)
_NUMBERS = st.one_of(
    st.sampled_from([0, -1, 1, 2**31, 2**63, -(2**63) - 1, 10**400, 0.5, 1e308, -0.0, 1e18, 1e300]),
    st.integers(),
    st.floats(),  # including NaN and the infinities: they are not JSON, but Python writes them
)
ODD = st.one_of(
    st.none(),
    st.booleans(),
    _NUMBERS,
    _TEXTS,
    st.sampled_from(["0001-01-01", "9999-12-31T23:59:59-23:59", "2026-01-01T00:00:00Z", "2026-13-01"]),
    st.lists(st.none(), max_size=2),
    st.dictionaries(_TEXTS, st.none(), max_size=2),
)
"""Values in the place of any value."""


@st.composite
def parameters(draw: DrawFn, shape: Any) -> Any:
    """Parameters of one operation: as the model wants them, or spoiled in some places."""
    if shape is None:
        return draw(st.sampled_from([{}, {"a": 1}, [], None]))
    return _value(draw, shape, "", draw(st.booleans()), 0)


def _value(draw: DrawFn, shape: Any, name: str, spoil: bool, depth: int) -> Any:
    if spoil and draw(st.integers(0, 19)) == 0:
        return draw(ODD)
    if name in _USUAL and draw(st.integers(0, 5)):
        return draw(st.sampled_from(_USUAL[name]))
    if shape.type_name == "structure":
        return _structure(draw, shape, spoil, depth)
    if shape.type_name == "list":
        low = shape.metadata.get("min", 0)
        count = 0 if depth > _DEEPEST else draw(st.integers(low, max(low, 2)))
        return [_value(draw, shape.member, "", spoil, depth + 1) for _ in range(count)]
    if shape.type_name == "map":
        count = 0 if depth > _DEEPEST else draw(st.integers(0, 2))
        return {
            str(_value(draw, shape.key, "", False, depth + 1)): _value(draw, shape.value, "", spoil, depth + 1)
            for _ in range(count)
        }
    return draw(_scalar(shape))


def _structure(draw: DrawFn, shape: Any, spoil: bool, depth: int) -> dict[str, Any]:
    required = list(shape.required_members)
    optional = [name for name in shape.members if name not in required]
    if depth > _DEEPEST:
        optional = []
    if optional:
        required += draw(st.lists(st.sampled_from(optional), max_size=_MOST_OPTIONAL, unique=True))
    if spoil and required and draw(st.integers(0, 9)) == 0:
        required.remove(draw(st.sampled_from(required)))
    found = {name: _value(draw, shape.members[name], name, spoil, depth + 1) for name in required}
    if spoil and draw(st.integers(0, 9)) == 0:
        found[draw(_TEXTS)] = draw(ODD)
    return found


@cache
def _scalar(shape: Any) -> SearchStrategy[Any]:
    kind, low, high = shape.type_name, shape.metadata.get("min"), shape.metadata.get("max")
    if kind == "boolean":
        return st.booleans()
    if kind in {"integer", "long"}:
        return st.integers(-(2**31) if low is None else low, 2**31 - 1 if high is None else high)
    if kind in {"float", "double"}:
        return st.floats(allow_nan=False, allow_infinity=False)
    if kind == "timestamp":
        return st.one_of(st.integers(0, 2**31), st.floats(-1e18, 1e18), st.just("2026-01-01T00:00:00Z"))
    if shape.enum:
        return st.sampled_from(shape.enum)
    return _text(shape.metadata.get("pattern"), low or 0, high)


def _text(pattern: str | None, low: int, high: int | None) -> SearchStrategy[str]:
    most = max(low, min(40, 40 if high is None else high))
    if pattern is not None:
        try:
            return st.from_regex(re.compile(pattern, re.ASCII), fullmatch=True).map(lambda text: text[:most])
        except re.error:  # some are Java's
            pass
    return st.text(alphabet=st.characters(codec="ascii"), min_size=low, max_size=most)
