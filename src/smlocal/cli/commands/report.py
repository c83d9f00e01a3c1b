"""`smlocal report`: one page with everything about a job, to send to others."""

import click


@click.command("report")
@click.argument("name")
@click.option("--html", "path", metavar="FILE", required=True, help='Where to write the page; "-" is standard output.')
def command(*, name: str, path: str) -> None:
    """Write an HTML report about a job, finished or running.

    One HTML file without scripts, fonts or images, and without links to other files.
    """
    import time

    from smlocal.job.control.orphans import see_to
    from smlocal.report.job_report import read_job_report
    from smlocal.report.page import render_report
    from smlocal.report.report_file import check_report_path, write_report
    from smlocal.store.home import home_directory
    from smlocal.store.jobs import Store

    with Store.open(home_directory()) as store:
        see_to(store, name)
        if path != "-":
            check_report_path(path)
        text = render_report(read_job_report(store, name, time.time()))
    if path == "-":
        click.echo(text, nl=False)
        return
    write_report(path, text)
    click.echo(f"Report of {name}: {path}", err=True)
