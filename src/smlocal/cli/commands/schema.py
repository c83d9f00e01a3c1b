"""`smlocal schema`: the JSON Schemas of a job file and of a result."""

import click


@click.command("schema")
@click.option("--result", is_flag=True, help="That of the result of a job: run --json, run --report, describe --json.")
def command(*, result: bool) -> None:
    """Print the JSON Schema of a job file.

    Editors use it to complete and check job files.
    """
    import json

    from smlocal.platforms.sagemaker.jobfile.schema import job_file_schema

    schema = job_file_schema()
    if result:
        from smlocal.report.result_schema import result_schema

        schema = result_schema(schema)
    click.echo(json.dumps(schema, indent=2, ensure_ascii=False))
