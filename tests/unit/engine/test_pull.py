import pytest

from smlocal.engine.pull import classified, registry_host, split_reference
from smlocal.errors import EngineError, ImagePullError, RegistryUnreachableError


@pytest.mark.parametrize(
    ("name", "parts", "host"),
    [
        ("img", ("img", "latest"), "docker.io"),
        ("img:1", ("img", "1"), "docker.io"),
        ("team/img:1", ("team/img", "1"), "docker.io"),
        ("localhost/img", ("localhost/img", "latest"), "localhost"),
        ("reg:5000/img", ("reg:5000/img", "latest"), "reg:5000"),
        ("reg:5000/img:1", ("reg:5000/img", "1"), "reg:5000"),
        ("reg.io/a/b@sha256:00", ("reg.io/a/b", "sha256:00"), "reg.io"),
        ("index.docker.io/team/img", ("index.docker.io/team/img", "latest"), "docker.io"),
        ("reg:5000/b:1@sha256:00", ("reg:5000/b", "sha256:00"), "reg:5000"),
    ],
)
def test_names_are_taken_apart(name: str, parts: tuple[str, str], host: str) -> None:
    assert split_reference(name) == parts
    assert registry_host(parts[0]) == host


@pytest.mark.parametrize(
    ("message", "status", "kind"),
    [
        ("pull access denied for x, repository does not exist or may require 'docker login'", 404, ImagePullError),
        ("manifest for x:1 not found: manifest unknown: manifest unknown", 404, ImagePullError),
        ("Head https://r/v2/x/manifests/1: no basic auth credentials", 500, ImagePullError),
        ("unauthorized: authentication required", 500, ImagePullError),
        ("toomanyrequests: You have reached your pull rate limit", 0, ImagePullError),
        ("no matching manifest for linux/arm64/v8 in the manifest list entries", 0, ImagePullError),
        ("invalid reference format", 400, ImagePullError),
        ("Get https://r/v2/: dial tcp: lookup r on 10.0.0.1:53: no such host", 500, RegistryUnreachableError),
        ("Get https://r/v2/: dial tcp 1.2.3.4:443: connect: connection refused", 500, RegistryUnreachableError),
        ("Get https://r/v2/: net/http: TLS handshake timeout", 500, RegistryUnreachableError),
        ("Get https://r/v2/: net/http: request canceled (Client.Timeout exceeded)", 500, RegistryUnreachableError),
        ("dial tcp 1.2.3.4:443: connect: network is unreachable", 0, RegistryUnreachableError),
        ("x509: certificate signed by unknown authority", 500, RegistryUnreachableError),
        ("received unexpected HTTP status: 503 Service Unavailable", 500, RegistryUnreachableError),
        ("Get https://r/v2/: http: server gave HTTP response to HTTPS client", 500, RegistryUnreachableError),
        ("write /var/lib/docker/tmp/x: no space left on device", 0, EngineError),
    ],
)
def test_a_refusal_is_told_from_a_registry_out_of_reach(message: str, status: int, kind: type[Exception]) -> None:
    error = classified("r/x:1", EngineError(message, status=status))
    assert type(error) is kind
    assert message in (error.sentence, *error.details)


def test_a_name_with_a_registry_that_cannot_be_one_is_refused() -> None:
    with pytest.raises(ImagePullError, match="Invalid index name"):
        registry_host("-reg.io/img")
