"""`smlocal exec`: run a program against this machine instead of AWS."""

import os

import click


@click.command("exec", context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
@click.option("--allow-cpu", is_flag=True, help="Run GPU and Neuron instance types without their devices.")
@click.argument("words", metavar="COMMAND...", nargs=-1, required=True, type=click.UNPROCESSED)
def command(*, allow_cpu: bool, words: tuple[str, ...]) -> int:
    """Run a program whose AWS calls reach this machine.

    boto3, the AWS CLI and the SageMaker SDKs need no change: the program finds the endpoint under AWS's own host names.
    Exits with the exit code of the program. At the end it says which jobs the program has started, how they have ended,
    and where their models are.

    \b
      smlocal exec -- python train.py
    """  # noqa: D301 - \b is click's mark for text not to be wrapped
    from smlocal.cli.endpoint_packages import check_endpoint_packages
    from smlocal.errors import SmlocalError
    from smlocal.platforms.sagemaker.contract.identity import DEFAULT_REGION
    from smlocal.store.home import home_directory, prepare_home

    check_endpoint_packages()
    from smlocal.server.run_program import run_program

    ended = run_program(
        words,
        os.environ,
        home=prepare_home(home_directory()),
        local={"AllowCpu": True} if allow_cpu else {},
        region=None if _has_region() else DEFAULT_REGION,
        say=_say,
    )
    try:
        _say_what_ran(words, ended.jobs)
    except SmlocalError as error:
        _say(error.sentence)
    except OSError:  # there is no place for the message
        pass
    return ended.code


def _say(message: str) -> None:
    click.echo(f"smlocal: {message}", err=True)


def _say_what_ran(command: tuple[str, ...], jobs: tuple[str, ...]) -> None:
    if jobs:
        from smlocal.cli.views.program_end import job_lines

        _say("\n".join(job_lines(jobs)))
        return
    from smlocal.server.local_mode import local_mode_lines

    if found := local_mode_lines(command, os.getcwd()):
        from smlocal.cli.views.program_end import local_mode_text

        _say("\n".join(local_mode_text(found)))


def _has_region() -> bool:
    """True if the environment or the AWS configuration sets one."""
    import botocore.session

    return botocore.session.Session().get_config_variable("region") is not None
