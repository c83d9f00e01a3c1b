"""Notes on the image: how it starts, and files in folders that SageMaker reserves."""

from smlocal.planning.model import JobPlan
from smlocal.platforms.sagemaker.contract.paths import CODE
from smlocal.platforms.sagemaker.jobfile.job_file import JobFile
from smlocal.platforms.sagemaker.planning.entrypoint import (
    MODEL_TRAINER_STOP,
    init_program,
    is_model_trainer,
    is_shell_form,
)
from smlocal.platforms.sagemaker.planning.note_rule import NoteRule

_NAMED_FILES = 3


def _shell_entrypoint(plan: JobPlan, job: JobFile) -> str | None:
    if plan.image_facts is None or plan.entrypoint is not None or not is_shell_form(plan.image_facts.entrypoint or ()):
        return None
    return 'ENTRYPOINT is in shell form, which drops "train" and stop signals; write it as a JSON list'


def _init_entrypoint(plan: JobPlan, job: JobFile) -> str | None:
    image = plan.image_facts.entrypoint if plan.image_facts is not None else None
    init = init_program(plan.entrypoint or image or ())
    if init is None:
        return None
    return (
        f'the entry point is {init}: AWS documents that an init program cannot be the entry point, because "train" '
        "breaks it; start your program directly"
    )


def _model_trainer_stop(plan: JobPlan, job: JobFile) -> str | None:
    return MODEL_TRAINER_STOP if is_model_trainer((*(plan.entrypoint or ()), *(plan.command or ()))) else None


def _stop_signal(plan: JobPlan, job: JobFile) -> str | None:
    signal = plan.image_facts.stop_signal if plan.image_facts is not None else None
    if signal in {None, "", "SIGTERM", "TERM", "15"}:
        return None
    return f"the image declares the stop signal {signal}; training containers get SIGTERM"


def _reserved_files(plan: JobPlan, job: JobFile) -> str | None:
    files = plan.image_facts.reserved_files if plan.image_facts is not None else ()
    if not files:
        return None
    # Only the first few were looked for, so their number is not known.
    more = " and more" if len(files) > _NAMED_FILES else ""
    return (
        "the image has files below /opt/ml, which SageMaker reserves and may hide: "
        f"{', '.join(files[:_NAMED_FILES])}{more}"
    )


def _image_absent(plan: JobPlan, job: JobFile) -> str | None:
    return f"{plan.image} is not available locally; a run pulls it first" if plan.image_facts is None else None


def _code_unread(plan: JobPlan, job: JobFile) -> str | None:
    """Only what starts the program is known, not what it reads."""
    image, request = plan.image_facts, job.request
    if plan.code is None or image is None:
        return None
    program = plan.entrypoint or (*(image.entrypoint or ()), image.working_directory)
    hyperparameters, environment = request.HyperParameters or {}, request.Environment or {}
    settings = {*hyperparameters, *environment, *image.environment}
    values = (*program, *(plan.command or ()), *environment.values(), *image.environment.values())
    if settings & _TOOLKIT_SETTINGS or any(CODE in value for value in (*values, *hyperparameters.values())):
        return None
    scripts = sorted(path for path in plan.code.listing.paths if path.endswith(".py") and "/" not in path)
    script = next((name for name in ("train.py", "main.py", *scripts) if name in scripts), "SCRIPT")
    return (
        f"nothing in the image's configuration or in the request names {CODE}: the program of the image runs, and may"
        f" not read what comes from {plan.code.listing.root}. To run that: --entrypoint 'python {CODE}/{script}'"
    )


def _image_changed(plan: JobPlan, job: JobFile) -> str | None:
    before, facts = job.document.ran_before, plan.image_facts
    if before is None or facts is None or before.image != plan.image or before.image_id == facts.id:
        return None
    then, now = (each.removeprefix("sha256:")[:12] for each in (before.image_id, facts.id))
    return f"{plan.image} is another image now ({now}) than {before.job} ran ({then})"


_TOOLKIT_SETTINGS = frozenset(
    {
        "SAGEMAKER_PROGRAM",
        "SAGEMAKER_SUBMIT_DIRECTORY",
        "SAGEMAKER_TRAINING_MODULE",
        "sagemaker_program",
        "sagemaker_submit_directory",
    }
)
"""With one of these, AWS's training toolkit starts a script of `/opt/ml/code`."""
IMAGE_RULES = (
    NoteRule(id="image-changed", says=_image_changed, warning=True),
    NoteRule(id="entrypoint-shell-form", says=_shell_entrypoint, warning=True),
    NoteRule(id="entrypoint-init", says=_init_entrypoint, warning=True),
    NoteRule(id="model-trainer-stop", says=_model_trainer_stop),
    NoteRule(id="stop-signal", says=_stop_signal, warning=True),
    NoteRule(id="image-reserved-files", says=_reserved_files, warning=True),
    NoteRule(id="code-unread", says=_code_unread, warning=True),
    NoteRule(id="image-absent", says=_image_absent),
)
