"""`smlocal coverage`: what becomes of every member of a request."""

import click


@click.command("coverage")
@click.option("--json", "as_json", is_flag=True, help="As one JSON document.")
def command(*, as_json: bool) -> None:
    """Say for every member of CreateTrainingJob whether it is emulated, recorded or refused."""
    from smlocal.contract.coverage import coverage_json

    table = coverage_json()
    if as_json:
        import json

        click.echo(json.dumps(table, indent=2, ensure_ascii=False))
        return
    members = table["CreateTrainingJob"]
    width = max(map(len, members))
    for member, row in members.items():
        click.echo(f"{member:<{width}}  {row['support']:<9}  {row['note']}")
        for value, special in row.get("values", {}).items():
            click.echo(f"{'  = ' + value:<{width}}  {special['support']:<9}  {special.get('note', '')}".rstrip())
