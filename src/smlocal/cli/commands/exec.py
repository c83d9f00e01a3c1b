"""`smlocal exec`: run a program against this machine instead of AWS."""

import os

import click


@click.command("exec", context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
@click.option("--allow-cpu", is_flag=True, help="Run GPU and Neuron instance types without their devices.")
@click.argument("words", metavar="COMMAND...", nargs=-1, required=True, type=click.UNPROCESSED)
def command(*, allow_cpu: bool, words: tuple[str, ...]) -> int:
    """Run a program whose AWS calls reach this machine.

    boto3, the AWS CLI and the SageMaker SDKs need no change: the program finds the endpoint under AWS's own host names.
    Exits with the exit code of the program.

    \b
      smlocal exec -- python train.py
    """  # noqa: D301 - \b is click's mark for text not to be wrapped
    from smlocal.cli.endpoint_packages import check_endpoint_packages
    from smlocal.platforms.sagemaker.contract.identity import DEFAULT_REGION
    from smlocal.store.home import home_directory, prepare_home

    check_endpoint_packages()
    from smlocal.server.run_program import run_program

    return run_program(
        words,
        os.environ,
        home=prepare_home(home_directory()),
        local={"AllowCpu": True} if allow_cpu else {},
        region=None if _has_region() else DEFAULT_REGION,
        say=lambda message: click.echo(f"smlocal: {message}", err=True),
    )


def _has_region() -> bool:
    """True if the environment or the AWS configuration sets one."""
    import botocore.session

    return botocore.session.Session().get_config_variable("region") is not None
