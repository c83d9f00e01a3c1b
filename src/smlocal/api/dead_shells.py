"""Removes what shells have left whose process was killed. Every run asks, so little is imported."""

import os


def remove_dead_shells(home: str) -> None:
    """What cannot be removed now is left for the next time. Shells that are open are left alone."""
    try:
        if not os.listdir(os.path.join(home, "shells")):
            return
    except OSError:  # there was no shell yet
        return
    from smlocal.job.shell import shell_folders

    shell_folders.remove_dead_shells(home)
