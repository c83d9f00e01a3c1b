from pathlib import Path

import click
import pytest

from smlocal.cli.commands.reproduce import command
from smlocal.cli.reproducing import use_profile
from smlocal.cli.same_command import WithWords, same_command
from smlocal.data.sources.s3.aws_session import caller_credentials

PARAMETERS = command.params


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


@pytest.mark.parametrize(
    ("given", "without", "expected"),
    [
        (("job.json", "--name", "x", "-q"), (), "smlocal reproduce job.json -q --code ./code"),
        (("--name=x", "my job.json"), (), "smlocal reproduce 'my job.json' --code ./code"),
        (("job.json", "--sample", "3", "-p", "a=1"), ("--sample",), "smlocal reproduce job.json -p a=1 --code ./code"),
        (("job.json", "--sample=3"), ("--sample",), "smlocal reproduce job.json --code ./code"),
        (
            ("job.json", "-e", "API_TOKEN=abc", "--env=DB_PASSWORD=abc", "-e", "A=b"),
            (),
            "smlocal reproduce job.json -e API_TOKEN --env=DB_PASSWORD -e A=b --code ./code",
        ),
    ],
)
def test_the_command_that_follows(given: tuple[str, ...], without: tuple[str, ...], expected: str) -> None:
    above = click.Context(click.Group("smlocal"), info_name="smlocal")
    with WithWords("reproduce", params=PARAMETERS).make_context("reproduce", [*given], parent=above):
        assert same_command(("--code", "./code"), without=without) == expected
