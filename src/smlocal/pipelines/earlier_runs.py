"""What earlier executions of a pipeline have left for the cache."""

from collections.abc import Mapping
from typing import Any

from smlocal.base.quick_dataclass import dataclass
from smlocal.jobs.store.jobs import Store
from smlocal.sagemaker.pipelines.cache import CacheAnswer, Earlier
from smlocal.sagemaker.pipelines.stored import STATE, StoredStep, status_of, step_document, stored_step


@dataclass(kw_only=True, slots=True)
class EarlierRuns:
    """Of one pipeline."""

    store: Store
    execution_arn: str
    """Of the execution that asks, which is none of them."""
    _statuses: Mapping[str, str] | None = None
    """The status of each, by its ARN."""

    def of(self, step: str) -> dict[str, tuple[Earlier, StoredStep]]:
        """Each run of a step of this name, by the ARN of its execution."""
        if self._statuses is None:
            found = self.store.jobs_with(STATE)
            self._statuses = {
                record.arn: status_of(record, state) for record, state in found if self._counts(record.arn)
            }
        runs: dict[str, tuple[Earlier, StoredStep]] = {}
        for record, document in self.store.jobs_with(step_document(step)):
            if record.arn not in self._statuses:
                continue
            stored = stored_step(step, document)
            progress = stored.progress
            if progress.ended is not None and stored.arguments is not None and progress.cached is None:
                runs[record.arn] = (
                    Earlier(
                        execution=record.arn,
                        execution_status=self._statuses[record.arn],
                        step_status=progress.state.value,
                        ended=progress.ended,
                        type=stored.listed.type,
                        arguments=stored.arguments,
                    ),
                    stored,
                )
        return runs

    def _counts(self, arn: str) -> bool:
        pipeline = self.execution_arn.partition("/execution/")[0]
        return arn != self.execution_arn and arn.startswith(f"{pipeline}/execution/")


def cache_document(answer: CacheAnswer) -> dict[str, Any]:
    """What is stored of an answer of the cache."""
    if answer.source is not None:
        return {"Source": answer.source}
    changes = [{"Key": each.key, "Before": each.before, "After": each.after} for each in answer.changes]
    known = {"Why": answer.why, "Compared": answer.compared, "Changes": changes or None}
    return {name: value for name, value in known.items() if value is not None}
