"""A job of a Trainium type where the devices are, where they are not, and where they cannot be seen."""

from pathlib import Path

import pytest

from smlocal.engine.facts import EngineFacts
from smlocal.errors import NeuronUnavailableError
from smlocal.jobfile.settings import LocalSettings
from smlocal.jobs.planning.aspects.accelerators.look import check_neuron_count, count_neuron_devices, try_neuron
from smlocal.sagemaker.contract.documents.config_files import homogeneous

LOCAL = LocalSettings()
ONE, TWO = homogeneous(1, "ml.trn1.2xlarge"), homogeneous(2, "ml.trn1.2xlarge")


def engine(*, local: bool = True, desktop: bool = False) -> EngineFacts:
    return EngineFacts(
        address="x",
        local=local,
        shares_folders=local,
        version="20.10",
        architecture="amd64",
        operating_system="linux",
        storage_driver="",
        desktop=desktop,
    )


def test_devices_are_counted(tmp_path: Path) -> None:
    (tmp_path / "neuron0").symlink_to("/dev/null")
    (tmp_path / "neuron11").symlink_to("/dev/null")
    (tmp_path / "neuron1").touch()  # not a device
    (tmp_path / "neuron_x").symlink_to("/dev/null")
    assert count_neuron_devices(engine(), str(tmp_path)) == 2


def test_devices_of_another_machine_are_not_counted() -> None:
    assert count_neuron_devices(engine(local=False)) is None
    assert count_neuron_devices(engine(desktop=True)) is None


def test_too_few_are_refused_with_the_way_to_run_without() -> None:
    check_neuron_count(ONE, LOCAL, 1)
    check_neuron_count(TWO, LOCAL, None)
    with pytest.raises(NeuronUnavailableError) as none:
        check_neuron_count(ONE, LOCAL, 0)
    assert none.value.sentence == "ml.trn1.2xlarge has 1 Neuron device, and this machine has none"
    assert "--allow-cpu" in none.value.remedy[-1]
    with pytest.raises(NeuronUnavailableError) as few:
        check_neuron_count(TWO, LOCAL, 1)
    assert few.value.sentence == (
        "2 hosts need 2 Neuron devices (ml.trn1.2xlarge has 1 Neuron device), and this machine has 1 Neuron device"
    )


class Refusing:
    """An engine of which only this is asked."""

    def __init__(self, said: str | None) -> None:
        self.said = said

    def probe(self, _image: str, _labels: object, *, device_files: tuple[str, ...]) -> str | None:
        assert device_files == ("/dev/neuron0", "/dev/neuron1")
        return self.said


def test_the_engine_has_the_last_word() -> None:
    try_neuron(TWO, LOCAL, Refusing(None), "i")  # type: ignore[arg-type]  # see above
    with pytest.raises(NeuronUnavailableError, match="this engine provides none") as caught:
        try_neuron(TWO, LOCAL, Refusing("no such file"), "i")  # type: ignore[arg-type]  # see above
    assert caught.value.details == ("no such file",)
