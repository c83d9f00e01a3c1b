"""`smlocal schema`: the JSON Schema of a job file."""

import click


@click.command("schema")
def command() -> None:
    """Print the JSON Schema of a job file.

    Editors use it to complete and check job files.
    """
    import json

    from smlocal.jobfile.schema import job_file_schema

    click.echo(json.dumps(job_file_schema(), indent=2, ensure_ascii=False))
