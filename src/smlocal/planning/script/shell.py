"""Words of the script: quoting, and what its things are called."""

import re

from smlocal.contract import paths
from smlocal.planning.model import HostPlan

OURS = '--filter "label=$L" --filter "name=by-hand-$J"'
"""What a script of this job has made on the engine."""
_PLAIN = re.compile(r"[\w@%+=:,./-]+", re.ASCII)


def quote(text: str) -> str:
    """One word for `sh`, bare where that is safe."""
    return text if _PLAIN.fullmatch(text) else "'" + text.replace("'", "'\\''") + "'"


def container(host: HostPlan) -> str:
    """Its name, as a word of the script."""
    return f'"by-hand-$J-{host.host.name}"'


def here(host: HostPlan, path: str = "") -> str:
    """Where something of the container lies on this machine while the script runs."""
    return beside(host, path.removeprefix(paths.ROOT))


def beside(host: HostPlan, path: str) -> str:
    """As `here`, for what is not below `/opt/ml` in the container."""
    return f'"$W"/{quote(host.host.name + path)}'
