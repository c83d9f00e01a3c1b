"""The size of this machine."""

import os

from smlocal.planning.facts import EngineFacts, GpuFacts, MachineFacts


def machine_facts(gpus: GpuFacts, engine: EngineFacts) -> MachineFacts:
    """Its processors and its memory, with GPUs that were looked at before; what the engine says of another machine."""
    if engine.cpus and (engine.desktop or not engine.local):
        return MachineFacts(cpus=engine.cpus, memory_mib=engine.memory_mib, gpus=gpus)
    return MachineFacts(cpus=os.cpu_count() or 1, memory_mib=memory_mib(), gpus=gpus)


def memory_mib() -> int:
    """All memory of the machine, without what the kernel and the firmware keep for themselves."""
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2**20
