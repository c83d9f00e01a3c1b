"""`smlocal report`: everything about a job on one page that can be sent to somebody."""

import click


@click.command("report")
@click.argument("name")
@click.option("--html", "path", metavar="FILE", required=True, help='Where the page goes; "-" is standard output.')
def command(*, name: str, path: str) -> None:
    """Write a page about a job, finished or running.

    One HTML file that needs nothing from anywhere: no script, no font, no image.
    """
    import time

    from smlocal.job.control.orphans import see_to
    from smlocal.report.gather import gather
    from smlocal.report.page import page
    from smlocal.report.writing import check_report_path, write_report
    from smlocal.store.home import home_directory
    from smlocal.store.jobs import Store

    with Store.open(home_directory()) as store:
        see_to(store, name)
        if path != "-":
            check_report_path(path)
        text = page(gather(store, name, time.time()))
    if path == "-":
        click.echo(text, nl=False)
        return
    write_report(path, text)
    click.echo(f"Report of {name}: {path}", err=True)
