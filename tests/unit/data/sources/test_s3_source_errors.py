"""Which answers of S3 are the service's refusal, and which say that this machine is not ready."""

import pytest

from smlocal.data.sources import s3_listing
from smlocal.data.sources.s3.interface import S3Error
from smlocal.data.sources.source_errors import Caller, RequestedSource
from smlocal.errors import ClockWrongError, CredentialsMissingError, S3UnreachableError, SmlocalError, SourceEmptyError

ASKED = RequestedSource(
    subject='channel "train"', member="S3Uri", uri="s3://bucket/a/", where="job.yaml:3", directory="/"
)
CALLER = Caller(region="eu-west-1", role="arn:aws:iam::111122223333:role/r")


def refusal(error: S3Error) -> SmlocalError:
    with pytest.raises(SmlocalError) as caught, s3_listing.as_source_errors(ASKED, CALLER):
        raise error
    assert caught.value.__cause__ is error
    return caught.value


@pytest.mark.parametrize(
    ("code", "status", "text"),
    [
        ("NoSuchBucket", 404, "The specified bucket does not exist"),
        ("AccessDenied", 403, "Access Denied"),
        ("PermanentRedirect", 301, "The bucket you are attempting to access must be addressed using …"),
        ("AuthorizationHeaderMalformed", 400, "The authorization header is malformed; the region 'us-east-1' is wrong"),
        ("SlowDown", 503, "Please reduce your request rate."),
    ],
)
def test_an_answer_of_s3_ends_the_sentence_of_the_service(code: str, status: int, text: str) -> None:
    error = refusal(S3Error(code, text, status=status))
    assert isinstance(error, SourceEmptyError)
    assert error.exit_code == 2
    assert error.sentence == (
        'No S3 objects found under S3 URL "s3://bucket/a/" given in input data source. Please ensure that the bucket '
        "exists in the selected region (eu-west-1), that objects exist under that S3 prefix, and that the role "
        '"arn:aws:iam::111122223333:role/r" has "s3:ListBucket" permissions on bucket "bucket". '
        f"Error message from S3: {text}"
    )


def test_an_answer_without_words_is_told_by_its_code() -> None:
    assert refusal(S3Error("Forbidden", "", status=403)).sentence.endswith(" Error message from S3: Forbidden")


@pytest.mark.parametrize(
    "code", ["InvalidAccessKeyId", "SignatureDoesNotMatch", "ExpiredToken", "InvalidToken", "RequestExpired"]
)
def test_credentials_that_do_not_count_are_this_machines_fault(code: str) -> None:
    error = refusal(S3Error(code, "words of S3", status=403))
    assert isinstance(error, CredentialsMissingError)
    assert error.exit_code == 3
    assert error.details == ("job.yaml:3   S3Uri: s3://bucket/a/", f"{code}: words of S3")
    assert error.remedy


def test_a_wrong_clock_is_no_matter_of_credentials() -> None:
    error = refusal(S3Error("RequestTimeTooSkewed", "The difference is too large.", status=403))
    assert isinstance(error, ClockWrongError)
    assert error.exit_code == 3
    assert "timedatectl" in error.remedy[0]
    assert "sso" not in "".join(error.remedy)
    assert "RequestTimeTooSkewed: The difference is too large." in error.details


def test_silence_is_this_machines_fault_too() -> None:
    error = refusal(S3Error("ConnectionError", "no route to host"))
    assert isinstance(error, S3UnreachableError)
    assert error.exit_code == 3
    assert "ConnectionError: no route to host" in error.details


def test_a_proxy_is_named_without_its_password(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("https_proxy", raising=False)
    monkeypatch.setenv("HTTPS_PROXY", "http://me:secret@private.example:3128")
    error = refusal(S3Error("RequestError", "Read timed out"))
    assert error.remedy[0] == "Does the proxy answer?  HTTPS_PROXY is http://private.example:3128"
