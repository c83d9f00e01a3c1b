"""A shell in a container that runs."""

from collections.abc import Iterator
from contextlib import closing, contextmanager

from smlocal.engine.interface import Engine, ProcessStreams
from smlocal.errors import EngineError
from smlocal.job.shell.program import Program


@contextmanager
def shell_in_running(engine: Engine, container: str, program: Program, *, image: str) -> Iterator[ProcessStreams]:
    """Start another process in a container."""
    try:
        with closing(engine.execute(container, program.words, terminal=program.terminal)) as streams:
            yield streams
    except EngineError as error:
        raise program.error(error, image) from error
