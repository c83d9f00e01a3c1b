"""`smlocal serve`: an endpoint for boto3, the AWS CLI and the SDKs."""

import os
from importlib.util import find_spec
from typing import Any

import click

from smlocal.cli.shown_help import shown_command
from smlocal.errors.of_commands import ServeMissingError
from smlocal.terms.listing import may_be_bucket

PORT = 4597
_PACKAGES = ("cryptography", "starlette", "uvicorn")


steps_option = click.option(
    "--steps",
    type=click.Path(readable=False),
    metavar="FILE",
    help="YAML file with what stands in for steps of pipelines that do not run here, by their names.",
)


@shown_command(
    "serve",
    examples=(
        ("smlocal serve", "Listen on the default port of this machine."),
        ("smlocal serve --port 0 --buckets ./buckets", "Pick a free port; keep buckets here."),
    ),
)
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    metavar="N",
    default=PORT,
    show_default=True,
    help="Port to listen on; 0 picks a free one.",
)
@click.option("--host", metavar="ADDRESS", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option(
    "--key/--no-key",
    "demand_key",
    default=None,
    help="Require requests to be signed with the key, or not. Default: --key if other machines can reach the "
    "endpoint, or others have an account on this machine.",
)
@click.option("--allow-host", metavar="NAME", multiple=True, help="Accept requests for this host name too; repeatable.")
@click.option(
    "--allow-path",
    type=click.Path(readable=False),
    metavar="DIR",
    multiple=True,
    help="Let jobs of clients use this folder; repeatable.",
)
@click.option(
    "--allow-bucket",
    metavar="NAME",
    multiple=True,
    help="Let jobs of clients use this S3 bucket with your AWS credentials; repeatable.",
)
@click.option(
    "--allow-local", is_flag=True, help="Let clients set every member of Local, including those that share credentials."
)
@click.option("--allow-cpu", is_flag=True, help="Run GPU and Neuron instance types without their devices.")
@steps_option
@click.option(
    "--buckets",
    type=click.Path(readable=False),
    metavar="DIR",
    help="Parent folder of the buckets, one folder each. Default: a folder in the home of smlocal.",
)
@click.option(
    "--max-instances", type=click.IntRange(min=1), metavar="N", help="Maximum number of instances in use at once."
)
@click.option("--refuse", is_flag=True, help="Refuse jobs above --max-instances instead of letting them wait.")
def command(
    *,
    port: int,
    host: str,
    demand_key: bool | None,
    allow_host: tuple[str, ...],
    allow_path: tuple[str, ...],
    allow_bucket: tuple[str, ...],
    allow_local: bool,
    allow_cpu: bool,
    steps: str | None,
    buckets: str | None,
    max_instances: int | None,
    refuse: bool,
) -> None:
    """Run a local endpoint for boto3, the AWS CLI and the SDKs."""
    if refuse and max_instances is None:
        raise click.UsageError("--refuse needs --max-instances.")
    for path in allow_path:
        if not os.path.isdir(path):
            raise click.UsageError(f"--allow-path: {path} is not a folder.")
    for name in allow_bucket:
        if not may_be_bucket(name):
            raise click.UsageError(
                f"--allow-bucket: no bucket can have the name '{name}'. Write it without s3:// and without a key."
            )
    if buckets is not None and os.path.exists(buckets) and not os.path.isdir(buckets):
        raise click.UsageError(f"--buckets: {buckets} is not a folder.")
    check_endpoint_packages()
    from smlocal.endpoint.serve import serve
    from smlocal.endpoint.serving import ClientRights, Options
    from smlocal.jobs.submission.scheduler import InstanceLimit

    serve(
        host=host,
        port=port,
        demand_key=demand_key,
        options=Options(
            buckets=None if buckets is None else os.path.realpath(buckets),
            limit=None if max_instances is None else InstanceLimit(instances=max_instances, refuse=refuse),
            hosts=frozenset(allow_host),
            rights=ClientRights(
                allowed_paths=tuple(map(os.path.abspath, allow_path)),
                allowed_buckets=allow_bucket,
                local_members=allow_local,
            ),
            local={"AllowCpu": True} if allow_cpu else {},
            **stand_ins_of(steps),
        ),
        say=lambda message: click.echo(message, err=True),
    )


def stand_ins_of(path: str | None) -> dict[str, Any]:
    """The choices of a server's owner about steps, from the file with them."""
    if path is None:
        return {}
    from smlocal.sagemaker.pipelines.stand_ins import read_stand_in_file

    return {"stand_ins": read_stand_in_file(path), "stand_in_folder": os.path.dirname(os.path.abspath(path))}


def check_endpoint_packages() -> None:
    """`ServeMissingError` if a package of the extra `serve` is not installed."""
    missing = [name for name in _PACKAGES if find_spec(name) is None]
    if missing:
        raise ServeMissingError(
            f"the endpoint needs packages that are not installed: {', '.join(missing)}",
            remedy=["Install them:  pip install 'smlocal[serve]'", "From a clone:  pip install '.[serve]'"],
        )
