"""Programs that end badly, and what Docker says of their end when they are PID 1 and when they have an init above them.

The exit codes were measured. The classes and what becomes of a job of one replica follow from them.
"""

from dataclasses import dataclass

from smlocal.ai_platform.lifecycle.states import ErrorClass


@dataclass(frozen=True, kw_only=True)
class Fault:
    """One program, given to `python3 -c`."""

    name: str
    program: str
    exit_code: int
    """As PID 1."""
    exit_code_under_init: int
    error: ErrorClass | None
    """As PID 1; None: it ends well."""
    error_under_init: ErrorClass | None
    oom_killed: bool = False
    """True: it needs a container with a limit of memory."""


_ABORT = "import os; os.abort()"
_NULL = "import ctypes; ctypes.string_at(0)"
_SIGNAL_ITSELF = "import os, signal; os.kill(os.getpid(), signal.SIGSEGV)"
_FILL_MEMORY = "b = []\nwhile True: b.append(bytearray(b'x' * 2**22))"
_CHILD_FILLS_MEMORY = (
    "import os, subprocess, sys\n"
    f"done = subprocess.run([sys.executable, '-c', {_FILL_MEMORY!r}])\n"
    "os._exit(128 - done.returncode if done.returncode < 0 else done.returncode)"
)
_TERMINATED = "import os, signal; signal.signal(15, lambda *_: os._exit(143)); os.kill(os.getpid(), 15)"
_KILLED = "import os, signal; os.kill(os.getpid(), signal.SIGKILL)"
_FORKS = "import os, sys, time; sys.exit() if os.fork() else time.sleep(600)"

FAULTS = (
    Fault(
        name="exit-1",
        program="raise SystemExit(1)",
        exit_code=1,
        exit_code_under_init=1,
        error=ErrorClass.USER_EXCEPTION,
        error_under_init=ErrorClass.USER_EXCEPTION,
    ),
    Fault(
        name="exit-6",
        program="raise SystemExit(6)",
        exit_code=6,
        exit_code_under_init=6,
        error=ErrorClass.TRANSIENT,
        error_under_init=ErrorClass.TRANSIENT,
    ),
    Fault(
        name="exit-11",
        program="raise SystemExit(11)",
        exit_code=11,
        exit_code_under_init=11,
        error=ErrorClass.TRANSIENT,
        error_under_init=ErrorClass.TRANSIENT,
    ),
    # The default action of SIGABRT does not apply to PID 1; the C library then ends it in another way.
    Fault(
        name="abort",
        program=_ABORT,
        exit_code=139,
        exit_code_under_init=134,
        error=ErrorClass.TRANSIENT,
        error_under_init=ErrorClass.TRANSIENT,
    ),
    Fault(
        name="null-dereference",
        program=_NULL,
        exit_code=139,
        exit_code_under_init=139,
        error=ErrorClass.TRANSIENT,
        error_under_init=ErrorClass.TRANSIENT,
    ),
    # PID 1 does not get a signal that it sends itself and has no handler for.
    Fault(
        name="signals-itself",
        program=_SIGNAL_ITSELF,
        exit_code=0,
        exit_code_under_init=139,
        error=None,
        error_under_init=ErrorClass.TRANSIENT,
    ),
    Fault(
        name="kills-itself",
        program=_KILLED,
        exit_code=0,
        exit_code_under_init=137,
        error=None,
        error_under_init=ErrorClass.REPLICA_FAILURE,
    ),
    Fault(
        name="out-of-memory",
        program=_FILL_MEMORY,
        exit_code=137,
        exit_code_under_init=137,
        error=ErrorClass.OUT_OF_MEMORY,
        error_under_init=ErrorClass.OUT_OF_MEMORY,
        oom_killed=True,
    ),
    Fault(
        name="child-out-of-memory",
        program=_CHILD_FILLS_MEMORY,
        exit_code=137,
        exit_code_under_init=137,
        error=ErrorClass.OUT_OF_MEMORY,
        error_under_init=ErrorClass.OUT_OF_MEMORY,
        oom_killed=True,
    ),
    Fault(
        name="exit-143",
        program=_TERMINATED,
        exit_code=143,
        exit_code_under_init=143,
        error=ErrorClass.REPLICA_FAILURE,
        error_under_init=ErrorClass.REPLICA_FAILURE,
    ),
    Fault(
        name="forks-and-leaves",
        program=_FORKS,
        exit_code=0,
        exit_code_under_init=0,
        error=None,
        error_under_init=None,
    ),
)
KILLED_FROM_OUTSIDE = 137
"""The exit code of a container that gets SIGKILL from the engine: a replica failure, with and without an init."""
