"""What `smlocal serve` and `smlocal exec` refuse before they begin."""

import pytest
from tests.kit import Run


@pytest.mark.slow(0.5)
@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("serve", "--buckets", "/etc/passwd"), 2, "--buckets: /etc/passwd is not a folder"),
        (("serve", "--allow-path", "/nowhere"), 2, "--allow-path: /nowhere is not a folder"),
        (("serve", "--allow-bucket", "No Bucket!"), 2, "--allow-bucket: no bucket can have the name 'No Bucket!'"),
        (("serve", "--allow-bucket", "s3://bucket"), 2, "--allow-bucket: no bucket can have the name 's3://bucket'"),
        (("serve", "--allow-bucket", ""), 2, "--allow-bucket: no bucket can have the name ''"),
        (("serve", "--refuse"), 2, "--refuse needs --max-instances"),
        (("serve", "--host", "192.0.2.1"), 3, "Give an address of this machine."),
        (("serve", "--host", "nowhere.invalid"), 3, "Give an address of this machine."),
        (("exec", "no-such-program"), 2, "no-such-program cannot be started"),
        (("exec", "--", "/etc/passwd"), 2, "/etc/passwd cannot be started"),
    ],
)
def test_bad_input(words: tuple[str, ...], code: int, said: str, smlocal: Run) -> None:
    done = smlocal(*words)
    assert (done.returncode, done.stdout) == (code, "")
    assert said in done.stderr
