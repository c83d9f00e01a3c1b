"""The views of the image: a row, a document, and notes on how it starts and on files in reserved folders."""

from collections.abc import Mapping
from typing import Any

from smlocal.base.readable import readable_bytes
from smlocal.jobs.planning.aspects.image.plan import MODEL_TRAINER_STOP, init_program, is_model_trainer, is_shell_form
from smlocal.jobs.planning.model import JobPlan
from smlocal.jobs.planning.note_rule import NoteRule
from smlocal.sagemaker.contract.paths import CODE
from smlocal.sagemaker.jobfile.job_file import JobFile
from smlocal.terms.masking import masked_words

_NAMED_FILES = 3


def image_text(plan: JobPlan) -> str:
    """The image, and its program."""
    facts = plan.image.facts
    if facts is None:
        return f"{plan.image.name} (not here)"
    runs = " + ".join(
        part
        for part in (
            " ".join(masked_words(plan.image.entrypoint))
            if plan.image.entrypoint is not None
            else "ENTRYPOINT"
            if facts.entrypoint
            else "",
            " ".join(masked_words(plan.image.command or ())),
        )
        if part
    )
    platform = f"{facts.operating_system}/{facts.architecture}"
    return f"{plan.image.name} (here, {platform}, {readable_bytes(facts.size)})   runs: {runs}"


def image_document(plan: JobPlan) -> Mapping[str, Any]:
    """The image in the document of a plan, except its name."""
    facts = plan.image.facts
    if facts is None:
        return {"Here": False}
    return {
        "Here": True,
        "Id": facts.id,
        "Platform": f"{facts.operating_system}/{facts.architecture}",
        "Size": facts.size,
        "Entrypoint": facts.entrypoint,
        "User": facts.user,
        "WorkingDirectory": facts.working_directory,
    }


def _shell_entrypoint(plan: JobPlan, job: JobFile) -> str | None:
    if (
        plan.image.facts is None
        or plan.image.entrypoint is not None
        or not is_shell_form(plan.image.facts.entrypoint or ())
    ):
        return None
    return 'ENTRYPOINT is in shell form, which drops "train" and stop signals; write it as a JSON list'


def _init_entrypoint(plan: JobPlan, job: JobFile) -> str | None:
    image = plan.image.facts.entrypoint if plan.image.facts is not None else None
    init = init_program(plan.image.entrypoint or image or ())
    if init is None:
        return None
    return (
        f'the entry point is {init}: AWS documents that an init program cannot be the entry point, because "train" '
        "breaks it; start your program directly"
    )


def _model_trainer_stop(plan: JobPlan, job: JobFile) -> str | None:
    return (
        MODEL_TRAINER_STOP if is_model_trainer((*(plan.image.entrypoint or ()), *(plan.image.command or ()))) else None
    )


def _stop_signal(plan: JobPlan, job: JobFile) -> str | None:
    signal = plan.image.facts.stop_signal if plan.image.facts is not None else None
    if signal in {None, "", "SIGTERM", "TERM", "15"}:
        return None
    return f"the image declares the stop signal {signal}; training containers get SIGTERM"


def _reserved_files(plan: JobPlan, job: JobFile) -> str | None:
    files = plan.image.facts.reserved_files if plan.image.facts is not None else ()
    if not files:
        return None
    # Only the first few were looked for, so their number is not known.
    more = " and more" if len(files) > _NAMED_FILES else ""
    return (
        "the image has files below /opt/ml, which SageMaker reserves and may hide: "
        f"{', '.join(files[:_NAMED_FILES])}{more}"
    )


def _image_absent(plan: JobPlan, job: JobFile) -> str | None:
    return f"{plan.image.name} is not available locally; a run pulls it first" if plan.image.facts is None else None


def _code_unread(plan: JobPlan, job: JobFile) -> str | None:
    """Only what starts the program is known, not what it reads."""
    image, request = plan.image.facts, job.request
    if plan.inputs.code is None or image is None:
        return None
    program = plan.image.entrypoint or (*(image.entrypoint or ()), image.working_directory)
    hyperparameters, environment = request.HyperParameters or {}, request.Environment or {}
    settings = {*hyperparameters, *environment, *image.environment}
    values = (*program, *(plan.image.command or ()), *environment.values(), *image.environment.values())
    if settings & _TOOLKIT_SETTINGS or any(CODE in value for value in (*values, *hyperparameters.values())):
        return None
    scripts = sorted(path for path in plan.inputs.code.listing.paths if path.endswith(".py") and "/" not in path)
    script = next((name for name in ("train.py", "main.py", *scripts) if name in scripts), "SCRIPT")
    return (
        f"nothing in the image's configuration or in the request names {CODE}: the program of the image runs, and may"
        f" not read the files from {plan.inputs.code.listing.root}. To run that: --entrypoint 'python {CODE}/{script}'"
    )


def _image_changed(plan: JobPlan, job: JobFile) -> str | None:
    before, facts = job.document.ran_before, plan.image.facts
    if before is None or facts is None or before.image != plan.image.name or before.image_id == facts.id:
        return None
    then, now = (each.removeprefix("sha256:")[:12] for each in (before.image_id, facts.id))
    return f"{plan.image.name} is now another image ({now}) than the one that {before.job} ran ({then})"


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
