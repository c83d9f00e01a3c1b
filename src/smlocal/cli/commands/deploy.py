"""`smlocal deploy`: serve a model from its image."""

from typing import Any

import click

from smlocal.cli.screen_options import SCREEN_OPTIONS
from smlocal.cli.shown_help import shown_command, shown_option
from smlocal.jobfile.option import Head

_OPTIONS = (
    shown_option("--image", metavar="IMAGE", help="The image that serves the model.", head=Head.JOB, common=True),
    shown_option(
        "--env",
        "-e",
        "environment",
        multiple=True,
        metavar="KEY[=VALUE]",
        help="Set a variable of the container; repeatable.",
        head=Head.JOB,
        common=True,
    ),
    shown_option("--name", metavar="NAME", help="The name of the endpoint.", head=Head.JOB, common=True),
    shown_option(
        "--detach/--foreground",
        "detach",
        default=True,
        help="Return once it is in service, the default; or follow its log until it is stopped.",
        head=Head.RUN,
        common=True,
    ),
    shown_option(
        "--replace", is_flag=True, help="Replace an ended endpoint of the same name.", head=Head.RUN, common=True
    ),
    shown_option(
        "--key/--no-key",
        "key",
        default=None,
        help="Demand a key at the address, or none. Default: a key if others have an account on this machine.",
        head=Head.RUN,
    ),
    shown_option(
        "--json",
        "as_json",
        is_flag=True,
        help="Print the description of the endpoint as JSON.",
        head=Head.RESULT,
        common=True,
    ),
    *SCREEN_OPTIONS,
)


def _with_options(command: Any) -> Any:
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


@shown_command(
    "deploy",
    examples=(
        ("smlocal deploy my-job --name my-endpoint", "Serve the model of a job from the image that trained it."),
        ("smlocal deploy model.tar.gz --image my-image", "Serve an archive."),
        ("smlocal deploy model.yaml --foreground", "Serve what a file describes, and follow the log."),
    ),
)
@click.argument("what", metavar="JOB|MODEL|PACKAGE")
@_with_options
def command(*, what: str, **given: Any) -> int:
    """Serve a model from its image, as SageMaker hosting does.

    JOB is a job that has left a model. MODEL is an archive of a model (.tar.gz), a folder with one, or a model file:
    the members of CreateModel and CreateEndpointConfig in YAML or JSON. PACKAGE is the ARN of a package in the model
    registry of this machine, or GROUP/VERSION. The container runs until smlocal stop.
    """
    from smlocal.cli.deploying import deploy

    return deploy(what, given)
