"""Tables of the block `Local`: of a job file from the settings, of a result from its schema."""

import json
from typing import Any

from smlocal.ai_platform.jobfile.job_file import ReplicaReading
from smlocal.api.request_tables import job_file_schema
from smlocal.jobfile.option import LocalMember
from smlocal.jobfile.settings import OPTIONS, LocalSettings
from smlocal.report.result_schema import result_schema
from smlocal.terms.model.structure import Structure, members

_PAGES = {
    "Sources": "#run-without-s3",
    "AllowedPaths": "endpoint.md#what-clients-reach",
    "AllowedBuckets": "endpoint.md#what-clients-reach",
    "Publish": "publish.md",
    "Cache": "data.md#the-download-cache",
    "CacheGiB": "data.md#the-download-cache",
    "Credentials": "credentials.md",
    "Sample": "data.md#a-sample-of-the-data",
    "MaxHosts": "hosts.md#how-many-hosts",
    "Engines": "engines.md",
    "NetworkRange": "hosts.md#addresses",
    "Networks": "network.md",
    "AddHosts": "network.md",
    "Endpoints": "hosts.md#services-on-this-machine",
    "EnforceInstanceLimits": "machine.md#instance-sizes",
    "Ulimits": "machine.md#limits-of-your-own",
    "Processes": "machine.md#limits-of-your-own",
    "Gpus": "machine.md#gpus",
    "DataParallel": "distributed.md",
    "DebugPort": "debugging.md",
    "Keep": "run.md#keep-the-containers-of-a-failed-job",
    "Faults": "#faults",
    "ErrorDelaySeconds": "ai-platform.md#settings-of-this-machine",
    "Rules": "debugger.md#rules",
    "OnRule": "debugger.md#what-follows-an-issue",
    "Check": "check.md#ignore-a-finding",
}
"""The section about a setting, where there is one."""


def settings_table() -> str:
    """One row for each setting of this machine."""
    found = members(LocalSettings)
    rows = (_setting(name, each) for name, each in found.items() if isinstance(each, LocalMember))
    return "\n".join(("| setting | default | flag | meaning |\n|---|---|---|---|", *rows))


def _setting(name: str, member: LocalMember) -> str:
    value = getattr(LocalSettings(), name)
    head = f"[`{name}`]({_PAGES[name]})" if name in _PAGES else f"`{name}`"
    flag = f"`{member.option.flag}`" if member.option is not None else ""
    return f"| {head} | {_default(value)} | {flag} | {_cell(member.description or '')} |"


def _default(value: Any) -> str:
    if value is None:
        return ""
    value = value.plain() if isinstance(value, Structure) else value
    return f"`{value if isinstance(value, str) else json.dumps(value)}`"


def refused_settings() -> str:
    """The settings that jobs of AI Platform have no use for, in one sentence."""
    return ", ".join(f"`{name}`" for name in ReplicaReading.REFUSED) + "."


def keywords_table() -> str:
    """One row for each keyword of `smlocal.run` that stands for a flag."""
    rows = (f"| `{each.keyword}` | `{each.flag}` | {each.form.value.partition(';')[0]} |" for each in OPTIONS.values())
    return "\n".join(("| keyword | flag | value |\n|---|---|---|", *rows))


def result_table() -> str:
    """One row for each member of the block in the answer of describe."""
    local = result_schema(job_file_schema("CreateTrainingJob"))["properties"]["Local"]["properties"]
    rows = (f"| `{name}` | {_cell(each['description'])} |" for name, each in local.items())
    return "\n".join(("| member | content |\n|---|---|", *rows))


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("*", "\\*")
