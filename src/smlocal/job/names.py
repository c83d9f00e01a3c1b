"""Job names are used once; `--replace` frees one that a finished job has."""

from smlocal.errors import JobNotFinishedError, JobUnknownError
from smlocal.job.describe import LOCAL
from smlocal.removal import remove_tree
from smlocal.store.jobs import Store, name_in_use


def check_name(store: Store, name: str, *, replace: bool) -> None:
    """Refuse a name that cannot be had, before anything is done for it."""
    try:
        record = store.get(name)
    except JobUnknownError:
        return
    if not replace:
        raise name_in_use(name)
    if not record.status.terminal:
        raise JobNotFinishedError(
            f"The training job '{name}' is not finished: it is {record.status}.",
            remedy=["--replace removes finished jobs only; choose another name with --name."],
        )


def make_room(store: Store, name: str) -> None:
    """Remove the finished job that has the name, with its artifacts: an old model must not pass for a new one."""
    try:
        local = store.document(name, LOCAL) or {}
        store.remove(name)
    except JobUnknownError:
        return
    artifacts = local.get("Artifacts", {})
    for path in (artifacts.get("Model"), artifacts.get("Output")):
        if path is not None:
            remove_tree(path)
