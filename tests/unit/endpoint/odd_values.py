"""Values that no client sends, by a seeded generator, and such as clients send."""

import json
from base64 import urlsafe_b64encode
from collections.abc import Callable
from random import Random
from typing import Any

LARGE = 8 << 20
_KEYS: tuple[Any, ...] = (
    *([1.0, 1], [10**30, 1], ["\ud800", 1], [float("nan"), 1], ["a\0", 1], [-(10**30), 2**62], ["a"], [True, 1], {}),
    *([1, "\ud800", 1], [10**30, "a", 1], [2**62, "running/algo-1-1790000000", 5], ["\ud800"], [10**30, "a"], [[[]]]),
)
_TOKENS = (
    *(urlsafe_b64encode(json.dumps(key).encode()).decode() for key in _KEYS),
    *("10", "b/00000000000000000000/s", "f/99999999999999999999/s", "after/", "after/x", "x"),
)
NAMES = tuple(f"job-{number}" for number in range(20))
_USUAL: dict[str, tuple[Any, ...]] = {
    "TrainingJobName": (*NAMES, "ended"),
    "ResourceArn": tuple(f"arn:aws:sagemaker:us-east-1:000000000000:training-job/{name}" for name in NAMES),
    "RoleArn": ("arn:aws:iam::000000000000:role/any",),
    "PolicySourceArn": ("arn:aws:iam::000000000000:role/any",),
    "TrainingImage": ("image",),
    "S3Uri": ("s3://bucket/data", "s3://other/", "/data"),
    "S3OutputPath": ("s3://bucket/out", "/out"),
    "InstanceType": ("ml.m5.large",),
    "InstanceCount": (1, 2),
    "logGroupName": ("/aws/sagemaker/TrainingJobs", "other"),
    "logStreamName": ("running/algo-1-1790000000", "none"),
    "logStreamNames": (["running/algo-1-1790000000"],),
    "filterPattern": ("", "line", '"line 1"', "-line", "?a ?b", "{ $.a = 1 }"),
    "Namespace": ("/aws/sagemaker/TrainingJobs",),
    "Resource": ("TrainingJob",),
    "Period": (60, 1, 3600),
    "StartTime": (1_790_000_000, 0),
    "EndTime": (1_790_003_600,),
    "RoleName": ("smlocal",),
    "NextToken": _TOKENS,
    "nextToken": _TOKENS,
}
_TEXTS = (
    *("", "a", "s3://bucket/../x", "../..", "\x00", "\ud800", "é", "😀", "null", "0", "-1", "1e400", "NaN", "\u202e"),
    *("s3://", "s3://bucket", "s3://bucket//", "file:///etc/passwd", "/etc/passwd", "http://[::1", "a://b:c@d", "{"),
    *("[", "999999999", "arn:aws:sagemaker:us-east-1:000000000000:training-job/ended", "a.b.c.d", "Tags.a", "\ufffe"),
    *('{"password": "x"}', '{"a":' * 200 + "1" + "}" * 200, "[" * 900 + "]" * 900),
    *_TOKENS,
)
_NUMBERS = (0, -1, 1, 2**31, 2**63, -(2**63) - 1, 10**400, 0.5, 1e308, -0.0, 1e18, 1e300, float("nan"), float("inf"))
_REPEATED = (
    *("a", "é", "\x00", "-", "a-", ".", "/", "a/", "://", "a://b:c/", "{", "[", '"', "\\", "1", "s3://a/", "*", ","),
)
_DEEPEST = 6


class OddValues:
    """Makes values; the same ones for the same seed."""

    def __init__(self, seed: int, *, large: float) -> None:
        """`large`: how many of the texts and lists are of megabytes."""
        self.random = Random(seed)
        self.most = LARGE if large else LARGE >> 5
        """Bytes of a value."""
        self._large = large

    def chance(self, share: float) -> bool:
        """True so often."""
        return self.random.random() < share

    def size(self) -> int:
        """The length of something, in bytes or so."""
        return LARGE if self.chance(self._large) else self.random.choice((2, 30, 300, 3_000, 30_000))

    def text(self) -> str:
        """A text that is odd, or long."""
        if self.chance(0.7):
            return self.random.choice(_TEXTS)
        unit = self.random.choice(_REPEATED)
        return unit * (self.size() // len(unit))

    def odd(self, depth: int = 0) -> Any:
        """Values in the place of any value."""
        plain: tuple[Callable[[], Any], ...] = (
            lambda: self.random.choice((None, True, False)),
            lambda: self.random.choice(_NUMBERS),
            self.text,
            self.text,
        )
        inner: tuple[Callable[[], Any], ...] = (
            lambda: self._repeated(self.odd(depth + 1)),
            lambda: {f"{self.text()[:20]}{number}": None for number in range(self.size() // 30)},
            lambda: {self.text(): self.odd(depth + 1)},
            lambda: nested(self.random.choice((10, 45, 60, 500)), lists=self.chance(0.5)),
        )
        return self.random.choice(plain if depth > 2 else (*plain, *inner))()

    def value(self, shape: Any, name: str, spoil: float, depth: int) -> Any:
        """A value of a shape of botocore's, or an odd one: `spoil` says how often."""
        if self.chance(spoil):
            return self.odd()
        if name in _USUAL and self.chance(0.85):
            return self.random.choice(_USUAL[name])
        if shape.type_name == "structure":
            return self.structure(shape, spoil, depth)
        count = 0 if depth > _DEEPEST else self.random.randrange(3)
        if shape.type_name == "list":
            count = max(count, 0 if depth > _DEEPEST else shape.metadata.get("min", 0))
            return [self.value(shape.member, "", spoil, depth + 1) for _ in range(count)]
        if shape.type_name == "map":
            return {self.text()[:50]: self.value(shape.value, "", spoil, depth + 1) for _ in range(count)}
        return self._scalar(shape)

    def structure(self, shape: Any, spoil: float, depth: int) -> dict[str, Any]:
        """A structure with the members that it needs, and some others."""
        names = list(shape.required_members)
        optional = [name for name in shape.members if name not in names]
        if optional and depth <= _DEEPEST:
            names += self.random.sample(optional, self.random.randrange(min(6, len(optional) + 1)))
        kept = [name for name in names if not self.chance(spoil / 4)]
        found = {name: self.value(shape.members[name], name, spoil, depth + 1) for name in kept}
        if self.chance(spoil / 2):
            found[self.text()] = self.odd()
        return found

    def _repeated(self, value: Any) -> list[Any]:
        return [value] * min(self.size() // 2, self.most // len(json.dumps(value)))

    def _scalar(self, shape: Any) -> Any:
        kind, low = shape.type_name, shape.metadata.get("min", 0)
        if kind in {"integer", "long"}:
            return max(low, self.random.choice((0, 1, 10, 100)))
        if kind in {"string", "blob"}:
            words = shape.metadata.get("enum")
            return self.random.choice(words or ("a", "abc", "1", "a-b")) * (1 if words else max(1, low))
        others: dict[str, tuple[Any, ...]] = {
            "boolean": (True, False),
            "timestamp": (0, 1_790_000_000, -1e18, 1e17, "2026-01-01T00:00:00Z", "0001-01-01", 1.5),
        }
        return self.random.choice(others.get(kind, (0.5, 1.0)))


def nested(levels: int, *, lists: bool) -> Any:
    """A value in so many lists or maps."""
    value: Any = 1
    for _ in range(levels):
        value = [value] if lists else {"a": value}
    return value
