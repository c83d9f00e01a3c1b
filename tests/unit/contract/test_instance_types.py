from smlocal.contract.instance_types import instance_type


def test_a_known_type_has_its_size() -> None:
    size = instance_type("ml.g4dn.12xlarge")
    assert size is not None
    assert (size.vcpus, size.memory_mib, size.gpus) == (48, 196608, 4)


def test_a_type_newer_than_the_table_is_unknown() -> None:
    assert instance_type("ml.z99.large") is None
    assert instance_type("ml.m5") is None
