"""`smlocal invoke`: ask an endpoint."""

import os
import sys

import click

from smlocal.cli.job_argument import job_argument
from smlocal.cli.request_body import STANDARD_INPUT, read_body, written_body
from smlocal.cli.shown_help import shown_command
from smlocal.cli.terminal.layout import YELLOW, paint
from smlocal.cli.terminal.printable import SafeOutput
from smlocal.cli.terminal.standard_streams import output_errors
from smlocal.sagemaker.serving.facts import MODEL_BODY

_MEMBERS = {
    "content_type": "Content-Type",
    "accept": "Accept",
    "custom_attributes": "X-Amzn-SageMaker-Custom-Attributes",
    "target_model": "X-Amzn-SageMaker-Target-Model",
    "target_variant": "X-Amzn-SageMaker-Target-Variant",
    "target_container": "X-Amzn-SageMaker-Target-Container-Hostname",
    "inference_id": "X-Amzn-SageMaker-Inference-Id",
}
"""The header of each option."""
_TOO_MUCH = "the answer has {:,} bytes; the service's model of InvokeEndpoint allows " + f"{MODEL_BODY:,}"


@shown_command(
    "invoke",
    examples=(
        ("smlocal invoke my-endpoint --body '1,2' --content-type text/csv", "Send this text."),
        ("smlocal invoke my-endpoint --body-file request.json --content-type application/json", "Send a file."),
        ("smlocal invoke my-endpoint --body-file - --content-type text/csv", "Send standard input."),
    ),
)
@job_argument
@click.option(
    "--body",
    metavar="TEXT",
    help="The body; - is standard input. The name of an existing file sends that file.",
)
@click.option(
    "--body-file",
    type=click.Path(readable=False),
    metavar="FILE",
    help="The file to send; - is standard input.",
)
@click.option("--content-type", metavar="TYPE", help="The MIME type of what is sent.")
@click.option("--accept", metavar="TYPE", help="The MIME type that is wanted.")
@click.option(
    "--custom-attributes", metavar="TEXT", help="Sent to the container as X-Amzn-SageMaker-Custom-Attributes."
)
@click.option(
    "--target-model",
    metavar="NAME",
    help="Sent as X-Amzn-SageMaker-Target-Model. Multi-model endpoints are refused.",
)
@click.option("--target-variant", metavar="NAME", help="The production variant that answers.")
@click.option("--target-container", metavar="NAME", help="The container that answers, with direct invocation.")
@click.option("--inference-id", metavar="ID", help="Sent to the container as X-Amzn-SageMaker-Inference-Id.")
def command(*, name: str, body: str | None, body_file: str | None, **given: str | None) -> None:
    """Invoke an endpoint and print its answer.

    Does what InvokeEndpoint does: an error of the container is a ModelError, with its status and message.

    On a terminal, control characters of the answer are shown as escapes, those of colours are not. A file or a pipe
    gets the bytes.
    """
    content = _content(body, body_file)
    from smlocal.api.endpoints import invoke

    headers = {_MEMBERS[option]: value for option, value in given.items() if value is not None}
    for header, value in headers.items():
        if not value.isascii() or not value.isprintable():
            raise click.UsageError(f"{header}: only printable ASCII characters are possible.")
    answer = invoke(name, content, headers)
    out = sys.stdout.fileno()
    # An answer is data, not the screen of a program: what it does to a terminal is never wanted.
    shown = SafeOutput().feed if os.isatty(out) else bytes
    size = 0
    for piece in answer.pieces:
        size += len(piece)
        view = memoryview(shown(piece))
        with output_errors():
            while view:
                view = view[os.write(out, view) :]
    if size > MODEL_BODY:
        click.echo(f"{paint('!', YELLOW)} {_TOO_MUCH.format(size)}", err=True)


def _content(body: str | None, file: str | None) -> bytes:
    if (body is None) == (file is None):
        raise click.UsageError("Give the body with --body, or a file with --body-file.")
    return written_body(body) if body is not None else read_body(file or STANDARD_INPUT, "--body-file")
