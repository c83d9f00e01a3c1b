"""Notes on the engine: what another one than Docker on this machine does differently."""

from smlocal.contract.job_file import JobFile
from smlocal.plan.model import JobPlan
from smlocal.plan.note_rule import NoteRule


def _podman(plan: JobPlan, job: JobFile) -> str | None:
    if plan.engine.product != "podman":
        return None
    return (
        "the engine is Podman: it does not say when memory has run out (exit code 137), sets TERM and container, "
        "and gives /etc/hosts more names"
    )


def _rootless(plan: JobPlan, job: JobFile) -> str | None:
    if not plan.engine.rootless:
        return None
    return "the engine is rootless: root of the container is a user without rights here, and peers share its network"


def _remote(plan: JobPlan, job: JobFile) -> str | None:
    if plan.engine.local:
        return None
    return (
        f"the engine at {plan.engine.address} runs elsewhere: everything is sent into volumes of its own, and brought "
        "back when the containers have ended, nothing while they run"
    )


ENGINE_RULES = (
    NoteRule(id="engine-remote", says=_remote),
    NoteRule(id="engine-podman", says=_podman),
    NoteRule(id="engine-rootless", says=_rootless),
)
