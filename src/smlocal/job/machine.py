"""The size of this machine."""

import os

from smlocal.plan.facts import GpuFacts, MachineFacts


def machine_facts(gpus: GpuFacts) -> MachineFacts:
    """Its processors and its memory, with GPUs that were looked at before."""
    return MachineFacts(cpus=os.cpu_count() or 1, memory_mib=memory_mib(), gpus=gpus)


def memory_mib() -> int:
    """All memory of the machine, without what the kernel and the firmware keep for themselves."""
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2**20
