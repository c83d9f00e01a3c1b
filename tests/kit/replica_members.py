"""The demands on the coverage tables of AI Platform."""

from collections.abc import Iterator

from smlocal.ai_platform.model.members import ReplicaJobKind, is_structure, members


def leaves(kind: ReplicaJobKind) -> Iterator[str]:
    """All members of a request that are not structures, such as `jobSpec.workerPoolSpecs[].replicaCount`."""
    yield from _leaves(kind, kind.value, "")


def _leaves(kind: ReplicaJobKind, structure: str, prefix: str) -> Iterator[str]:
    for name, member in members(kind, structure).items():
        if member.output:
            continue
        place = f"{prefix}{name}{'[]' if member.many == 'list' else ''}"
        if is_structure(kind, member.type):
            yield from _leaves(kind, member.type, f"{place}.")
        else:
            yield place
