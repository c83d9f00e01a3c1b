"""`smlocal schema`: the JSON Schemas of job files and of results."""

import json

import click

from smlocal.cli.request_names import NAMED, OF_SAGEMAKER, TRAINING, requests_named
from smlocal.cli.shown_help import shown_command
from smlocal.report.result_schema import replica_result_schema, result_schema


@shown_command(
    "schema",
    examples=(
        ("smlocal schema", "Print the schema of job files."),
        ("smlocal schema --of endpoint", "Print the schema of model files, which smlocal deploy takes."),
        ("smlocal schema --result", "Print the schema of job descriptions."),
    ),
)
@click.argument("job", required=False, type=click.Path(readable=False), metavar="[JOB]")
@click.option(
    "--of", "named", type=click.Choice(NAMED), help=f"The request in the file, or its kind.  [default: {TRAINING}]"
)
@click.option(
    "--result",
    is_flag=True,
    help="Print the schema of job descriptions (run --json, run --report, describe --json) instead.",
)
def command(*, job: str | None, named: str | None, result: bool) -> None:
    """Print the JSON Schema of a job file.

    Editors use it to complete and check job files. JOB is a file of any kind: its schema is printed. CreateModel,
    CreateEndpointConfig and CreateEndpoint have one schema, that of model files.
    """
    from smlocal.api.request_tables import answer_schema, job_file_schema, requests_of_file

    if job is not None and named is not None:
        raise click.UsageError("Give a job file or --of, not both.")
    request = (requests_of_file(job) if job is not None else requests_named(named or TRAINING))[0]
    if result and request in OF_SAGEMAKER[1:]:
        raise click.UsageError(f"--result has no schema for {request}. smlocal describe NAME --json prints an answer.")
    schema = job_file_schema(request)
    if result:
        of_sagemaker = request == TRAINING
        schema = result_schema(schema) if of_sagemaker else replica_result_schema(schema, answer_schema(request))
    click.echo(json.dumps(schema, indent=2, ensure_ascii=False))
