"""Notes on the image: how it starts, and files in folders that SageMaker reserves."""

from smlocal.planning.model import JobPlan
from smlocal.platforms.sagemaker.jobfile.job_file import JobFile
from smlocal.platforms.sagemaker.planning.entrypoint import (
    MODEL_TRAINER_STOP,
    init_program,
    is_model_trainer,
    is_shell_form,
)
from smlocal.platforms.sagemaker.planning.note_rule import NoteRule, some


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
    return f"the image has files below /opt/ml, which SageMaker reserves and may hide: {some(list(files))}"


def _image_absent(plan: JobPlan, job: JobFile) -> str | None:
    return f"{plan.image} is not available locally; a run pulls it first" if plan.image_facts is None else None


def _image_changed(plan: JobPlan, job: JobFile) -> str | None:
    before, facts = job.document.ran_before, plan.image_facts
    if before is None or facts is None or before.image != plan.image or before.image_id == facts.id:
        return None
    then, now = (each.removeprefix("sha256:")[:12] for each in (before.image_id, facts.id))
    return f"{plan.image} is another image now ({now}) than {before.job} ran ({then})"


IMAGE_RULES = (
    NoteRule(id="image-changed", says=_image_changed, warning=True),
    NoteRule(id="entrypoint-shell-form", says=_shell_entrypoint, warning=True),
    NoteRule(id="entrypoint-init", says=_init_entrypoint, warning=True),
    NoteRule(id="model-trainer-stop", says=_model_trainer_stop),
    NoteRule(id="stop-signal", says=_stop_signal, warning=True),
    NoteRule(id="image-reserved-files", says=_reserved_files, warning=True),
    NoteRule(id="image-absent", says=_image_absent),
)
