"""Neuron devices shared out among hosts."""

from collections.abc import Callable

from smlocal.jobfile.settings import LocalSettings
from smlocal.jobs.planning.aspects.accelerators.plan import neuron_devices
from smlocal.jobs.planning.model import JobPlan
from smlocal.sagemaker.contract.documents.config_files import heterogeneous, homogeneous
from smlocal.sagemaker.training.script import shell_script

TRAINIUM = {"ResourceConfig": {"InstanceType": "ml.trn1.2xlarge", "InstanceCount": 1}}


def test_each_host_gets_others_than_the_one_before() -> None:
    hosts = heterogeneous([("data", "ml.c5.xlarge", 1), ("train", "ml.trn1.2xlarge", 2)])
    assert neuron_devices(hosts, LocalSettings()) == ((), ("/dev/neuron0",), ("/dev/neuron1",))


def test_a_large_type_has_sixteen() -> None:
    (devices,) = neuron_devices(homogeneous(1, "ml.trn1.32xlarge"), LocalSettings())
    assert devices[::15] == ("/dev/neuron0", "/dev/neuron15")


def test_none_when_the_job_may_run_without() -> None:
    assert neuron_devices(homogeneous(1, "ml.trn1.2xlarge"), LocalSettings(AllowCpu=True)) == ((),)
    assert neuron_devices(homogeneous(1, "local"), LocalSettings()) == ((),)


def test_the_script_asks_for_the_same(plan: Callable[..., JobPlan]) -> None:
    assert "--device /dev/neuron0 \\\n" in shell_script(plan(TRAINIUM))
    assert "--device" not in shell_script(plan(TRAINIUM, {"AllowCpu": True}))
