"""`smlocal schema`: the JSON Schemas of job files and of results."""

import json

import click

from smlocal.cli.request_names import OF_SAGEMAKER, REQUESTS, TRAINING
from smlocal.cli.shown_help import shown_command
from smlocal.report.result_schema import replica_result_schema, result_schema


@shown_command(
    "schema",
    examples=(
        ("smlocal schema", "Print the schema of job files."),
        ("smlocal schema --of CreateModel", "Print the schema of model files, which smlocal deploy takes."),
        ("smlocal schema --result", "Print the schema of job descriptions."),
    ),
)
@click.option(
    "--of",
    "request",
    type=click.Choice(REQUESTS),
    default=TRAINING,
    show_default=True,
    help="The request in the file.",
)
@click.option(
    "--result",
    is_flag=True,
    help="Print the schema of job descriptions (run --json, run --report, describe --json) instead.",
)
def command(*, request: str, result: bool) -> None:
    """Print the JSON Schema of a job file.

    Editors use it to complete and check job files. A model file holds CreateModel, CreateEndpointConfig and
    CreateEndpoint: their schema is the same.
    """
    if result and request in OF_SAGEMAKER[1:]:
        raise click.UsageError(f"--result: there is no schema of what describes a {request} request.")
    from smlocal.api.request_tables import answer_schema, job_file_schema

    schema = job_file_schema(request)
    if result:
        of_sagemaker = request == TRAINING
        schema = result_schema(schema) if of_sagemaker else replica_result_schema(schema, answer_schema(request))
    click.echo(json.dumps(schema, indent=2, ensure_ascii=False))
