"""The endpoint's operations in the process of a leader."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from smlocal.endpoint.serving import ClientRights, Options, serving_in_leader
from smlocal.jobs.planning.model import IdentityPlan
from smlocal.jobs.store.jobs import Store
from smlocal.jobs.submission.scheduler import InstanceLimit
from smlocal.pipelines.making import Maker


@contextmanager
def open_maker(
    store: Store,
    *,
    identity: IdentityPlan,
    client: Mapping[str, Any],
    local: Mapping[str, Any],
    directory: str,
    artifacts: str | None,
    instances: int | None,
    log: Callable[[str], None],
) -> Iterator[Maker]:
    """What makes the things of steps. `client`: the rights of the client that has started the execution, if one has.

    `artifacts`: where artifacts go whose bucket has no folder. `instances`: how many may be in use.
    """
    if client:
        allowed = client["AllowedBuckets"]
        rights = ClientRights(
            allowed_paths=tuple(client["AllowedPaths"]),
            allowed_buckets=None if allowed is None else tuple(allowed),
            local_members=client["LocalMembers"],
        )
    else:
        rights = ClientRights(allowed_paths=None, allowed_buckets=None, local_members=True)
    options = Options(
        buckets=client.get("Buckets"),
        limit=None if instances is None else InstanceLimit(instances=instances),
        rights=rights,
        with_key=client.get("WithKey", False),
        local=client.get("Local", {}),
    )
    with serving_in_leader(
        store,
        options=options,
        region=identity.region,
        account=identity.account,
        directory="/" if client else directory,
        artifacts=None if client else artifacts,
        log=log,
    ) as serving:
        yield Maker(serving=serving, local=local)
