"""`smlocal models`: the models and the model registry of this machine."""

import json
import sys
from typing import TYPE_CHECKING, Any

import click

from smlocal.base.at_use import at_use
from smlocal.cli.shown_help import shown_command
from smlocal.cli.terminal.layout import table, width_of
from smlocal.cli.terminal.printable import json_without_commands, printable
from smlocal.errors import UsageRefusedError

if TYPE_CHECKING:
    from smlocal.api.model_registry import ListedModel
    from smlocal.service.described_job import read_answer
else:  # it reads what the service says
    read_answer = at_use("smlocal.service.described_job", "read_answer")

_HEAD = ("NAME", "KIND", "APPROVAL", "IMAGE")
_SHRINKABLE = ((3, 12), (0, 12))
_MEMBERS = {
    "model_package_group": "ModelPackageGroups",
    "model_package": "ModelPackages",
    "model": "Models",
}


@shown_command(
    "models",
    examples=(
        ("smlocal models", "List all of them."),
        ("smlocal models my-group/1 --approve", "Approve a version, so that it can be deployed."),
        ("smlocal models --add described.json", "Record the model of a saved DescribeModel answer."),
    ),
)
@click.argument("what", metavar="[NAME|ARN]", required=False)
@click.option("--approve", is_flag=True, help="Approve the package, as UpdateModelPackage does.")
@click.option(
    "--add",
    type=click.Path(readable=False),
    metavar="FILE",
    help='Record a model from a saved answer of DescribeModel or DescribeTrainingJob, or a CreateModel request; "-" is '
    "standard input.",
)
@click.option("--name", metavar="NAME", help="The name of the added model. Default: that of the file.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document, with the service's descriptions.")
def command(*, what: str | None, approve: bool, add: str | None, name: str | None, as_json: bool) -> None:
    """List models and the model registry, or describe one of them.

    NAME is a model, a package or a group; a version of a group is GROUP/NUMBER. Clients of smlocal serve and
    smlocal exec make them. Transform files and Transform steps name models; smlocal deploy takes packages.
    """
    from smlocal.api import model_registry

    if (approve and what is None) or (add is None and name is not None) or (add is not None and what is not None):
        raise UsageRefusedError(
            "--approve needs a package, --name needs --add, and --add takes nothing else",
            remedy=["smlocal models --help shows examples."],
        )
    if add is not None:
        what, replaced = model_registry.record_model(read_answer(add), name=name)
        instead = ", in place of an earlier one" if replaced else ""
        click.echo(f"recorded the model {what}{instead}", err=True)
    elif approve and what is not None:
        click.echo(f"{model_registry.approve(what)} is approved", err=True)
    if what is not None:
        if as_json or not (approve or add):
            _print(model_registry.describe_model(what))
        return
    found = model_registry.list_models()
    if as_json:
        _print({_MEMBERS[kind]: [each.answer for each in listed] for kind, listed in found.items()})
        return
    rows = list(_rows(found))
    if not rows:
        click.echo("No models yet. Clients of smlocal serve and smlocal exec make them.", err=True)
        return
    for line in table([_HEAD, *rows], width=width_of(sys.stdout), shrinkable=_SHRINKABLE):
        click.echo(line)


def _rows(found: "dict[str, list[ListedModel]]") -> "list[tuple[str, ...]]":
    """Packages, groups without any, and models."""
    groups, packages, models = found.values()
    used = {each.name.partition("/")[0] for each in packages}
    listed = [*packages, *(each for each in groups if each.name not in used), *models]
    return [(each.name, each.kind, each.approval, printable(", ".join(each.images))) for each in listed]


def _print(document: Any) -> None:
    click.echo(json_without_commands(json.dumps(document, indent=2)))
