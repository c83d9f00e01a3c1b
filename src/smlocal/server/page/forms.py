"""The forms of the page. Only the page itself can send them: they want its origin, and the token that it has."""

import hmac
from collections.abc import Mapping
from urllib.parse import urlsplit

from starlette.requests import Request

from smlocal.api.job_source import read_document, read_text
from smlocal.api.stopping import stop
from smlocal.errors import JobFinishedError, SmlocalError
from smlocal.quick_dataclass import dataclass
from smlocal.server.call import ServiceError
from smlocal.server.page.addresses import job_address
from smlocal.server.protocol.form_fields import form_fields
from smlocal.server.sagemaker.creating import limit_to_rights, start_job
from smlocal.server.serving import Serving

_DOCUMENT = "job file"
_MOST_FIELDS = 10


@dataclass(frozen=True, kw_only=True, slots=True)
class Mistake:
    """What is wrong with a form, and what to do."""

    sentence: str
    details: tuple[str, ...] = ()
    remedy: tuple[str, ...] = ()


def fields(body: bytes) -> Mapping[str, str]:
    """The fields of a form, or of a query; none if it is not one."""
    try:
        found = form_fields(body, most=_MOST_FIELDS)
    except ValueError:
        return {}
    return dict(reversed(found))  # of a name that is there twice, the first


def refusal(request: Request, given: Mapping[str, str], token: str) -> str | None:
    """Why a form is not accepted; None if it is from a page of this server."""
    origin = request.headers.get("origin", "")
    if urlsplit(origin).netloc != request.headers.get("host"):
        return "This form was not sent by a page of this server."
    if not hmac.compare_digest(given.get("token", "").encode(), token.encode()):
        return "The server was started again since this page was loaded. Go back, reload it, and try again."
    return None


def stop_job(serving: Serving, name: str) -> None:
    """Stop it, unless it has ended meanwhile."""
    try:
        stop(serving.store, name, grace=None, on_message=serving.log)
    except JobFinishedError:
        return
    serving.starting.look()


def new_job(serving: Serving, text: str) -> str | Mistake:
    """The address of the page of a new job, or what is wrong with the job file."""
    try:
        document = read_text(text.encode(), name=_DOCUMENT, directory="/")
        local = document.data.get("Local")
        region = local.get("Region") if isinstance(local, dict) else None
        limit_to_rights(serving, document, region=region or serving.region)
        job, name = read_document(document, {}, path=None, fill_in=False, strict=False)
        start_job(serving, job, name=name, region=job.local.Region or serving.region)
    except SmlocalError as error:
        return Mistake(sentence=error.sentence, details=error.details, remedy=error.remedy)
    except ServiceError as error:
        return Mistake(sentence=error.message)
    return job_address(name)
