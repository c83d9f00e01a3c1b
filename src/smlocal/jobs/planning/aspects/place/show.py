"""Notes on what a job loses in a place that restricts its engine. Only jobs in such a place import this."""

import os

from smlocal.jobs.planning.model import JobPlan
from smlocal.jobs.planning.note_rule import NoteRule
from smlocal.jobs.planning.workload import Workload


def _network(plan: JobPlan, work: Workload) -> str | None:
    place = plan.engines.first.place
    if place is None:
        return None
    host = "" if plan.hosts[0].server is not None else f"; its resourceconfig.json names the host {place.host}"
    return (
        f"{place.name}: the container is on the network {place.network}, and shares addresses and ports with smlocal "
        f"and the editor{host}; {place.variable} is True, as in the SDK's local mode there"
    )


def _usage(plan: JobPlan, work: Workload) -> str | None:
    place = plan.engines.first.place
    return None if place is None else f"usage is not measured: {place.name} is not known to answer docker stats"


def _folders(plan: JobPlan, work: Workload) -> str | None:
    place = plan.engines.first.place
    if place is None:
        return None
    said = f"{place.name} is not known to allow docker cp: files of the image below /opt/ml are not looked for"
    if os.geteuid() != 0:
        said += (
            ", the folders below /opt/ml belong to you and not to root, and at the end a container of the image gives "
            "you what root wrote"
        )
    return said


def _changes(plan: JobPlan, work: Workload) -> str | None:
    place = plan.engines.first.place
    if place is None or not work.local.ListChanges:
        return None
    return f"Local.ListChanges has no effect: {place.name} is not known to answer docker diff"


def _debug_port(plan: JobPlan, work: Workload) -> str | None:
    place = plan.engines.first.place
    if place is None or plan.debug is None:
        return None
    return "the program listens for a debugger at a port of this space itself"


def _rules(plan: JobPlan, work: Workload) -> str | None:
    place = plan.engines.first.place
    if place is None or not plan.rules.each:
        return None
    return (
        f"containers of debugger rules are on the network {place.network} too, and have the usual rights of a container"
    )


def _server_ports(plan: JobPlan, work: Workload) -> str | None:
    place = plan.engines.first.place
    servers = [host.server for host in plan.hosts if host.server is not None]
    if place is None or not servers:
        return None
    ports = ", ".join(str(server.port) for server in servers)
    return f"the container must listen on the port in SAGEMAKER_BIND_TO_PORT, a free one of this space: {ports}"


PLACE_RULES = (
    NoteRule(id="studio-network", says=_network),
    NoteRule(id="studio-ports", says=_server_ports),
    NoteRule(id="studio-folders", says=_folders),
    NoteRule(id="studio-usage", says=_usage),
    NoteRule(id="studio-changes", says=_changes, warning=True),
    NoteRule(id="studio-debugger", says=_debug_port),
    NoteRule(id="studio-rules", says=_rules),
)
