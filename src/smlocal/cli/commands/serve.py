"""`smlocal serve`: an endpoint for boto3, the AWS CLI and the SDKs."""

import os
from collections.abc import Callable, Sequence
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


def engine_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options of commands that start jobs of clients: which engines run them."""
    engines = click.option(
        "--engine",
        "engines",
        metavar="ENGINE",
        multiple=True,
        help="Engine for whole jobs: an address or a Docker context; repeatable. Each job goes to the one with the "
        "most room.",
    )
    most = click.option(
        "--engine-instances",
        type=click.IntRange(min=1, max=1000),
        metavar="N",
        help="Maximum number of instances in use at once on each --engine.",
    )
    return engines(most(command))


def settings_of_jobs(*, allow_cpu: bool, engines: Sequence[str], engine_instances: int | None) -> dict[str, Any]:
    """Members of `Local` for the jobs of clients. Says which engines do not answer; it is an error if none does."""
    if engine_instances is not None and not engines:
        raise click.UsageError("--engine-instances needs --engine.")
    found: dict[str, Any] = {"AllowCpu": True} if allow_cpu else {}
    if engines:
        from smlocal.engine.engines import engines_named
        from smlocal.jobs.spreading import ask

        answers = ask(engines_named(engines), engines)
        answers.check()
        for address, why in answers.lost.items():
            click.echo(
                f"smlocal: {answers.names[address]} does not answer, and gets no jobs until it does: {why}", err=True
            )
        found["SpreadOver"] = list(engines)
    if engine_instances is not None:
        found["EngineInstances"] = engine_instances
    return found


@shown_command(
    "serve",
    examples=(
        ("smlocal serve", "Listen on the default port of this machine."),
        ("smlocal serve --port 0 --buckets ./buckets", "Pick a free port; keep buckets here."),
        ("smlocal serve --engine default --engine ssh://b", "Spread the jobs over two machines."),
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
@engine_options
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
    engines: tuple[str, ...],
    engine_instances: int | None,
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
            local=settings_of_jobs(allow_cpu=allow_cpu, engines=engines, engine_instances=engine_instances),
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
        from smlocal.base.installed import install_command

        raise ServeMissingError(
            f"the endpoint needs packages that are not installed: {', '.join(missing)}",
            remedy=[f"Install them:  {install_command('serve')}", "From a clone:  pip install '.[serve]'"],
        )
