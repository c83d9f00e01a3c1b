"""`Local.OnRule`: what follows when a rule has found an issue."""

import json
import subprocess
from collections.abc import Callable, Mapping
from threading import Thread
from typing import Any

STOP = "stop"
_LONGEST_SECONDS = 300.0


def action_of(on_rule: Mapping[str, str], rule: str) -> str | None:
    """`stop`, a command, or None. The rule's own entry counts before that of all rules."""
    return on_rule.get(rule, on_rule.get("*"))


def run_command(command: str, document: Mapping[str, Any], failed: Callable[[str], None]) -> None:
    """Run a command beside the job, with the status on its standard input. `failed` gets a sentence if it fails."""

    def run() -> None:
        try:
            done = subprocess.run(
                ["/bin/sh", "-c", command],
                input=json.dumps(document).encode(),
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                timeout=_LONGEST_SECONDS,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            failed(f"Local.OnRule: {command}: {error}")
            return
        if done.returncode != 0:
            said = done.stderr.decode(errors="replace").strip().rpartition("\n")[2]
            failed(f"Local.OnRule: {command} ended with exit code {done.returncode}{f': {said}' if said else ''}")

    Thread(target=run, name="on-rule", daemon=True).start()
