"""`smlocal serve`: an endpoint for boto3, the AWS CLI and the SageMaker SDKs."""

import click

PORT = 4597


@click.command("serve")
@click.option(
    "--port", type=click.IntRange(0, 65535), metavar="N", default=PORT, show_default=True, help="0: any free one."
)
@click.option("--host", metavar="ADDRESS", default="127.0.0.1", show_default=True, help="Address to listen on.")
def command(*, port: int, host: str) -> int:
    """Answer boto3, the AWS CLI and both SDKs."""
    from smlocal.server.serve import serve

    return serve(host=host, port=port, say=lambda message: click.echo(message, err=True))
