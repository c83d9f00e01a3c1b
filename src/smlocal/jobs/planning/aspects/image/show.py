"""The views of the image: a row, a document, and notes on how it starts and on files in reserved folders."""

from collections.abc import Mapping
from typing import Any

from smlocal.base.readable import readable_bytes
from smlocal.jobs.planning.aspects.image.plan import MODEL_TRAINER_STOP, init_program, is_model_trainer, is_shell_form
from smlocal.jobs.planning.model import JobPlan
from smlocal.jobs.planning.note_rule import NoteRule
from smlocal.jobs.planning.workload import Workload
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


def _shell_entrypoint(plan: JobPlan, work: Workload) -> str | None:
    if (
        plan.image.facts is None
        or plan.image.entrypoint is not None
        or not is_shell_form(plan.image.facts.entrypoint or ())
    ):
        return None
    return 'ENTRYPOINT is in shell form, which drops "train" and stop signals; write it as a JSON list'


def _init_entrypoint(plan: JobPlan, work: Workload) -> str | None:
    image = plan.image.facts.entrypoint if plan.image.facts is not None else None
    init = init_program(plan.image.entrypoint or image or ())
    if init is None:
        return None
    return (
        f'the entry point is {init}: AWS documents that an init program cannot be the entry point, because "train" '
        "breaks it; start your program directly"
    )


def _model_trainer_stop(plan: JobPlan, work: Workload) -> str | None:
    return (
        MODEL_TRAINER_STOP if is_model_trainer((*(plan.image.entrypoint or ()), *(plan.image.command or ()))) else None
    )


def _stop_signal(plan: JobPlan, work: Workload) -> str | None:
    signal = plan.image.facts.stop_signal if plan.image.facts is not None else None
    if signal in {None, "", "SIGTERM", "TERM", "15"}:
        return None
    return f"the image declares the stop signal {signal}; training containers get SIGTERM"


def _reserved_files(plan: JobPlan, work: Workload) -> str | None:
    files = plan.image.facts.reserved_files if plan.image.facts is not None else ()
    if not files:
        return None
    # Only the first few were looked for, so their number is not known.
    more = " and more" if len(files) > _NAMED_FILES else ""
    return (
        "the image has files below /opt/ml, which SageMaker reserves and may hide: "
        f"{', '.join(files[:_NAMED_FILES])}{more}"
    )


def _image_absent(plan: JobPlan, work: Workload) -> str | None:
    return f"{plan.image.name} is not available locally; a run pulls it first" if plan.image.facts is None else None


def _image_changed(plan: JobPlan, work: Workload) -> str | None:
    before, facts = work.document.ran_before, plan.image.facts
    if before is None or facts is None or before.image != plan.image.name or before.image_id == facts.id:
        return None
    then, now = (each.removeprefix("sha256:")[:12] for each in (before.image_id, facts.id))
    return f"{plan.image.name} is now another image ({now}) than the one that {before.job} ran ({then})"


IMAGE_RULES = (
    NoteRule(id="image-changed", says=_image_changed, warning=True),
    NoteRule(id="entrypoint-shell-form", says=_shell_entrypoint, warning=True),
    NoteRule(id="entrypoint-init", says=_init_entrypoint, warning=True),
    NoteRule(id="model-trainer-stop", says=_model_trainer_stop),
    NoteRule(id="stop-signal", says=_stop_signal, warning=True),
    NoteRule(id="image-reserved-files", says=_reserved_files, warning=True),
    NoteRule(id="image-absent", says=_image_absent),
)
