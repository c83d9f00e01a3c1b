from typing import get_args

import pytest

from smlocal.sagemaker.contract.instance_types import instance_type
from smlocal.sagemaker.contract.model import shapes


def test_a_known_type_has_its_size() -> None:
    size = instance_type("ml.g4dn.12xlarge")
    assert (size.vcpus, size.memory_mib, size.gpus) == (48, 196608, 4)


def test_a_name_must_match_whole() -> None:
    with pytest.raises(LookupError):
        instance_type("ml.m5")


def test_every_type_that_a_request_may_name_is_in_the_table() -> None:
    names = _strings(shapes.TrainingInstanceType)
    assert len(names) > 200
    for name in names:
        assert instance_type(name).vcpus > 0


def _strings(annotation: object) -> list[str]:
    return [part for item in get_args(annotation) for part in ([item] if isinstance(item, str) else _strings(item))]
