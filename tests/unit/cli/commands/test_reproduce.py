from pathlib import Path

import pytest

from smlocal.cli.commands.reproduce import use_profile
from smlocal.sources.s3.aws_session import caller_credentials


def test_the_run_reads_with_the_profile_that_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "credentials").write_text("[production]\naws_access_key_id = theirs\naws_secret_access_key = secret\n")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "credentials"))
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "none"))
    for name in (
        "AWS_PROFILE",
        "AWS_DEFAULT_PROFILE",
        "AWS_ACCESS_KEY_ID",
        "AWS_SECRET_ACCESS_KEY",
        "AWS_SESSION_TOKEN",
    ):
        monkeypatch.setenv(name, "other")
    use_profile("production")
    assert caller_credentials().access_key == "theirs"
