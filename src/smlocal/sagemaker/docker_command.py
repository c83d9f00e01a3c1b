"""The docker command that starts a failed job again, with the files that it needs in the job's folder."""

import os
from contextlib import suppress

from smlocal.jobs.planning.model import JobPlan
from smlocal.sagemaker.script import docker_line

_FOLDER = "docker-run"


def docker_command(plan: JobPlan) -> str:
    """One command for a shell: `docker run`, or else what prints a script. Needs the job's folder."""
    folder = f"{plan.job_directory}/{_FOLDER}"
    line = None if ":" in folder else docker_line(plan, folder)
    if line is not None:
        with suppress(OSError):  # a full disk
            for path in ("input", *line.folders):
                os.makedirs(f"{folder}/{path}", exist_ok=True)
            for path, content in line.files.items():
                os.makedirs(os.path.dirname(f"{folder}/{path}"), exist_ok=True)
                with open(f"{folder}/{path}", "wb") as file:
                    file.write(content)
            return " ".join(line.words)
    return f"smlocal plan --recorded {plan.name} --script"
