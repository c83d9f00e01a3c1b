"""PyTorch's own tests of backends, with the backend smddp on CPUs; two processes for each test, made by fork."""

import collections
import inspect
import json
import os
import re
import tempfile
import unittest

folder = tempfile.mkdtemp()
os.environ |= {"BACKEND": "smddp", "WORLD_SIZE": "2", "TEMP_DIR": folder, "MASTER_ADDR": "127.0.0.1"}
for name in ("barrier", "test_dir", "init_dir"):
    os.mkdir(f"{folder}/{name}")

import smdistributed.dataparallel.torch.torch_smddp  # noqa: E402, F401 - registers the backend
import torch  # noqa: E402 - after what it reads
from torch.testing._internal.common_distributed import DistTestCases  # noqa: E402

for feature in ("ddp", "subgroup", "plugin"):
    DistTestCases.backend_feature[feature].add("smddp")

from torch.testing._internal.distributed.distributed_test import DistributedTest, TestDistBackend  # noqa: E402


class TestSmddp(TestDistBackend, DistributedTest._DistTestBase):  # type: ignore[misc]
    """What PyTorch's test/distributed/test_distributed_spawn.py makes of them, with fork instead of spawn."""

    # Its C++ part calls every registered backend "custom", and the test wants the name.
    test_ddp_logging_data_cpu = None

    def setUp(self) -> None:
        super().setUp()
        # The import of PyTorch takes seconds, and spawned processes would repeat it.
        self._start_processes(torch.multiprocessing.get_context("fork").Process)


def is_for_gpus(name: str) -> bool:
    """True for a test that would only begin two processes to find that there are no GPUs."""
    source = inspect.getsource(inspect.unwrap(getattr(TestSmddp, name)))
    return re.search(r"@(skip_if_no_gpu|skip_if_lt_x_gpu\(.\)|require_n_gpus_for_nccl_backend)", source) is not None


if __name__ == "__main__":
    torch.set_num_threads(1)
    names = [name for name in unittest.defaultTestLoader.getTestCaseNames(TestSmddp) if not is_for_gpus(name)]
    result = unittest.TextTestRunner().run(unittest.TestSuite(map(TestSmddp, names)))
    wrong = {test.id().rpartition(".")[2]: text for test, text in (*result.failures, *result.errors)}
    skipped = collections.Counter(reason for _, reason in result.skipped)
    passed = result.testsRun - len(result.skipped) - len(wrong)
    answer = {"passed": passed, "wrong": wrong, "skipped": dict(skipped)}
    with open("/opt/ml/model/suite.json", "w", encoding="utf-8") as file:
        json.dump(answer, file)
