"""How smlocal was installed: the commands that add to it and renew it.

`pip` reaches neither the environments of pipx and uv nor, on Debian and Ubuntu, the Python of the system.
"""

import os
import sys


def install_command(extra: str) -> str:
    """The command that installs an extra beside this smlocal."""
    before = {"pipx": "pipx install --force", "uv": "uv tool install"}.get(_installer(), "pip install")
    return f"{before} 'smlocal[{extra}]'"


def upgrade_command() -> str:
    """The command that installs the newest release."""
    return {"pipx": "pipx upgrade smlocal", "uv": "uv tool upgrade smlocal"}.get(
        _installer(), "pip install --upgrade smlocal"
    )


def _installer() -> str:
    """By the file that it leaves in the environment of a tool; empty for all others."""
    files = {"pipx_metadata.json": "pipx", "uv-receipt.toml": "uv"}
    return next((name for file, name in files.items() if os.path.exists(os.path.join(sys.prefix, file))), "")
