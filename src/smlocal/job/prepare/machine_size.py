"""The processors and the memory of this machine."""

import os

from smlocal.planning.facts import EngineFacts, GpuFacts, MachineFacts


def machine_facts(gpus: GpuFacts, engine: EngineFacts) -> MachineFacts:
    """Those of the engine's machine, which may be another one, together with its GPUs."""
    if engine.cpus and (engine.desktop or not engine.local):
        return MachineFacts(cpus=engine.cpus, memory_mib=engine.memory_mib, gpus=gpus)
    return MachineFacts(cpus=os.cpu_count() or 1, memory_mib=memory_mib(), gpus=gpus)


def memory_mib() -> int:
    """The memory of this machine, without what the kernel and the firmware reserve."""
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2**20
