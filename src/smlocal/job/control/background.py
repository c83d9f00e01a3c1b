"""`python -m smlocal.job.control.background`: a Python without threads, which forks for one that has some."""

import pickle
import signal
import sys

from smlocal.job.control.detach import fork


def main() -> None:
    """Read what is to be done, begin it, and write the error if there was one before it began."""
    # The thread that started this process may have blocked signals, and a blocked one would never arrive.
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    work, given = pickle.load(sys.stdin.buffer)  # noqa: S301 - written by our own parent
    try:
        fork(work, given)
    except BaseException as error:  # noqa: BLE001 - the parent raises it
        sys.stdout.buffer.write(pickle.dumps(error))


if __name__ == "__main__":
    main()
