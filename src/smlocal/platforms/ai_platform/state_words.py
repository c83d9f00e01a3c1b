"""States in the words of the kinds of jobs."""

from smlocal.platforms.ai_platform.lifecycle.job_states import JobState
from smlocal.platforms.ai_platform.model.members import JobKind


def word_of(state: JobState, kind: JobKind) -> str:
    """A state in the words of the job's kind."""
    return state.value if kind is JobKind.TRAINING_JOB else state.of_custom_job
