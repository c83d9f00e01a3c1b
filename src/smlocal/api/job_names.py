"""Names of jobs as people write them: whole, as the beginning of one name, or `@last`."""

from collections.abc import Sequence

from smlocal.api.name_completion import LAST
from smlocal.errors import JobNameAmbiguousError, JobUnknownError
from smlocal.store.home import home_directory
from smlocal.store.jobs import Store

_MOST_SHOWN = 20
_MOST_SUGGESTED = 3
_MOST_COMPARED = 1000
"""Of the newest names: comparing ten thousand takes a second."""


def resolve_job_name(text: str) -> str:
    """The name of the job that is meant. `JobUnknownError` or `JobNameAmbiguousError` if that is not one job."""
    with Store.open(home_directory()) as store:
        if text == LAST:
            newest = store.list(limit=1)
            if newest:
                return newest[0].name
            raise JobUnknownError(f"there is no job yet, so {LAST} names none", details=[f"Jobs are in {store.home}."])
        found = store.names(text) if text else []
        if text in found:
            return text
        if len(found) == 1:
            return found[0]
        if found:
            raise _ambiguous(text, found)
        raise _unknown(text, store)


def _ambiguous(text: str, found: Sequence[str]) -> JobNameAmbiguousError:
    more = len(found) - _MOST_SHOWN
    return JobNameAmbiguousError(
        f"{len(found):,} jobs have names that begin with '{text}'",
        details=[*found[:_MOST_SHOWN], *([f"… and {more:,} more"] if more > 0 else [])],
        remedy=["Write more of the name."],
    )


def _unknown(text: str, store: Store) -> JobUnknownError:
    from smlocal.contract.validation.suggestions import closest_words

    near = closest_words(
        text, [LAST, *(record.name for record in store.list(limit=_MOST_COMPARED))], most=_MOST_SUGGESTED
    )
    return JobUnknownError(
        "Requested resource not found.",
        details=[f"No training job '{text}' in {store.home}."],
        remedy=[
            *([f"Did you mean {' or '.join(near)}?"] if near else []),
            "smlocal jobs lists the jobs that there are.",
        ],
    )
