"""The module that makes a program wait for a debugger: a folder of the host, mounted where Python looks first.

Only jobs that are debugged import this.
"""

import os

from smlocal.engine.interface import Mount
from smlocal.jobs.planning.aspects.debugging.plan import PACKAGE
from smlocal.jobs.planning.model import HostPlan, JobPlan, debugging_directory

SOURCE = os.path.join(os.path.dirname(__file__), "container_package")
_MODULE = "sitecustomize.py"


def write_debugging(plan: JobPlan, host: HostPlan) -> None:
    """Write the module, readable for every user, however smlocal is installed."""
    folder = debugging_directory(plan, host)
    os.makedirs(folder, exist_ok=True)  # a platform may promise no folders, and a replica starts again
    os.chmod(folder, 0o755)  # noqa: S103 - whatever the umask
    with open(f"{SOURCE}/{_MODULE}", "rb") as source, open(f"{folder}/{_MODULE}", "wb") as file:
        os.fchmod(file.fileno(), 0o644)
        file.write(source.read())


def debugging_mounts(plan: JobPlan, host: HostPlan) -> tuple[Mount, ...]:
    """The mount of the folder."""
    return (Mount(source=debugging_directory(plan, host), target=PACKAGE, read_only=True),)
