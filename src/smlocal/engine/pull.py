"""How an engine gets an image: pulled with the logins of the user, or built with the `docker build` command."""

import base64
import json
import os
import re
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from typing import Any

from docker.auth import INDEX_NAME, INDEX_URL, AuthConfig, encode_header, resolve_repository_name
from docker.credentials import Store, StoreError
from docker.credentials.errors import process_store_error
from docker.errors import DockerException, InvalidRepository
from docker.utils import parse_repository_tag

from smlocal.base.quick_dataclass import dataclass
from smlocal.base.readable import readable_bytes
from smlocal.engine.client import Client
from smlocal.engine.docker_config import docker_config
from smlocal.engine.http import Call
from smlocal.engine.inspection import DiskRoom, disk_room
from smlocal.engine.interface import Engine, PullState, RegistryLogin
from smlocal.errors import (
    BuildFailedError,
    BuildUnavailableError,
    ClockWrongError,
    CredentialsMissingError,
    DockerfileMissingError,
    EngineError,
    EngineLostError,
    ImagePullError,
    PlaceRefusedError,
    RegistryUnreachableError,
    SmlocalError,
)
from smlocal.errors.of_jobs import DiskTooSmallError
from smlocal.terms.clock import CLOCK_REMEDY, is_wrong_clock
from smlocal.terms.validation.violation import closest_words

# A refusal of the registry is distinguished from a registry that is unreachable.

_NOT_DOWNLOADED = ("Pulling fs layer", "Waiting", "Downloading", "Retrying")
_READY = ("Pull complete", "Already exists")
_UNREACHABLE = (
    "no such host",
    "connection refused",
    "connection reset",
    "i/o timeout",
    "client.timeout exceeded",
    "context deadline exceeded",
    "request canceled while waiting for connection",
    "tls handshake timeout",
    "network is unreachable",
    "no route to host",
    "host is down",
    "server misbehaving",
    "temporary failure in name resolution",
    "proxyconnect",
    "dial tcp",
    "x509:",
    "tls: ",
    "server gave http response to https client",
    "received unexpected http status: 5",
    ": eof",
)
_REFUSED = (
    "denied",
    "unauthorized",
    "authentication required",
    "no basic auth credentials",
    "forbidden",
    "not found",
    "unknown",
    "no matching manifest",
    "toomanyrequests",
    "unsupported",
)
_NO_SPACE = "no space left on device"
_ROOM_FOR_IMAGES = (
    "Free some space there:  docker system df, docker image prune, docker builder prune",
    "or use a smaller image, or an engine with a larger disk: --engine",
)
_MOST_MEANT, _LIKENESS = 3, 0.75
"""For suggested images: their number, and how similar their names must be."""
_HELPER_SECONDS = 60.0
"""A helper may ask for a passphrase."""
_ECR_NAME = re.compile(
    r"(?P<host>(?P<account>\d{12})\.dkr\.ecr(?:-fips)?\.(?P<region>[a-z0-9-]+)\.amazonaws\.com(?:\.cn)?)/."
)


def pull(
    client: Client,
    name: str,
    login: RegistryLogin | None,
    progress: Callable[[str], None],
    working: Callable[[PullState], None],
) -> None:
    """Let the engine pull `name`, with `login` or with the login that the docker command has saved."""
    repository, tag = split_reference(name)
    if login is None:
        shown = saved_login(registry_host(repository), progress)
    else:
        shown = {"username": login.username, "password": login.password, "serveraddress": login.server}
    headers = {"X-Registry-Auth": encode_header(shown).decode()} if shown else {}
    parameters = {"fromImage": repository, "tag": tag}
    layers: dict[str, _Layer] = {}
    fits = _fitting(client, name)
    try:
        path = "/images/create"
        with client.ask("POST", path, parameters=parameters, headers=headers, call=Call.STREAM) as answer:
            for line in answer.lines():
                _report(line, layers, progress, working)
                fits(layers.values())
    except EngineLostError:
        raise
    except EngineError as error:
        raise classified(name, error) from error


def _fitting(client: Client, name: str) -> "Callable[[Collection[_Layer]], None]":
    """Raises as soon as the layers are known to be larger than the engine's disk has room: an hour earlier, perhaps."""
    room: DiskRoom | None = None
    asked = False

    def check(layers: "Collection[_Layer]") -> None:
        nonlocal room, asked
        size = sum(layer.total or 0 for layer in layers)
        if not asked and size:
            room, asked = disk_room(client), True
        if room is not None and size > room.free:
            raise DiskTooSmallError(
                f"the image {name} has at least {readable_bytes(size)}, compressed, and {readable_bytes(room.free)} "
                f"are free at {room.folder}, where the engine keeps images",
                remedy=_ROOM_FOR_IMAGES,
            )

    return check


def split_reference(name: str) -> tuple[str, str]:
    """Split an image's name into repository and tag or digest. Without a tag it is `latest`, not all tags."""
    repository, tag = parse_repository_tag(name)
    return parse_repository_tag(repository)[0], tag or "latest"  # a tag before a digest has no effect


def meant_images(engine: Engine, name: str) -> list[str]:
    """A remedy for a missing image: local images with similar names, if any."""
    known: dict[str, list[str]] = {}
    with suppress(EngineError):
        for each in engine.image_names():
            repository, tag = split_reference(each)
            known.setdefault(repository.removeprefix("localhost/").removeprefix("docker.io/library/"), []).append(tag)
    repository, tag = split_reference(name)
    if repository in known:
        near = [f"{repository}:{each}" for each in sorted(known[repository])[:_MOST_MEANT]]
    else:
        alike = closest_words(repository, known, most=_MOST_MEANT, likeness=_LIKENESS)
        near = [f"{each}:{tag if tag in known[each] else known[each][0]}" for each in alike]
    return [f"Did you mean {' or '.join(near)}?"] if near else []


def registry_host(repository: str) -> str:
    """The registry of a repository; `docker.io` if its name has none."""
    try:
        return str(resolve_repository_name(repository)[0])
    except InvalidRepository as error:
        raise ImagePullError(str(error)) from error


def classified(name: str, error: EngineError) -> EngineError | RegistryUnreachableError | DiskTooSmallError:
    """Decide whether the registry refused (the job fails), or this machine is not ready: no registry, or no room."""
    if isinstance(error, PlaceRefusedError):
        return error  # no registry has been asked
    message = error.sentence
    text = message.lower()
    if _NO_SPACE in text:
        return DiskTooSmallError(
            f"the disk of the engine became full while the image {name} was pulled",
            details=(message,),
            remedy=_ROOM_FOR_IMAGES,
        )
    # Check this first: "lookup foo: no such host" must not count as "not found".
    if any(sign in text for sign in _UNREACHABLE):
        host = registry_host(split_reference(name)[0])
        return RegistryUnreachableError(
            f"image {name} is not available locally, and its registry {host} is unreachable",
            details=(message,),
            remedy=(
                f"Build or load it here:  docker build -t {name} .     or: docker load -i FILE",
                "Behind a proxy? Configure it in the engine; this shell's settings have no effect there.",
                "With --pull never, smlocal does not contact a registry.",
            ),
        )
    if error.status in range(400, 500) or any(sign in text for sign in _REFUSED):
        return ImagePullError(message, status=error.status)
    return error


@dataclass(kw_only=True, slots=True)
class _Layer:
    bytes: int = 0
    total: int | None = None
    """None until it is known."""
    ready: bool = False


def _report(
    line: bytes,
    layers: dict[str, _Layer],
    progress: Callable[[str], None],
    working: Callable[[PullState], None],
) -> None:
    try:
        event: Any = json.loads(line)
    except ValueError:
        return
    if not isinstance(event, dict):
        return
    if trouble := event.get("error"):
        raise EngineError(str(trouble))
    status, name = event.get("status"), event.get("id")
    if not isinstance(status, str):
        return
    # Docker begins with a line about the repository, whose id is the tag.
    if not isinstance(name, str) or status.startswith("Pulling from"):
        progress(status)
        return
    _update(layers.setdefault(name, _Layer()), status, event.get("progressDetail"))
    working(_state(layers.values()))


def _update(layer: _Layer, status: str, detail: Any) -> None:
    if status == "Downloading" and isinstance(detail, dict):
        current, total = detail.get("current"), detail.get("total")
        layer.bytes = current if isinstance(current, int) else layer.bytes
        layer.total = total if isinstance(total, int) and total > 0 else layer.total
    elif not status.startswith(_NOT_DOWNLOADED):
        layer.total = layer.bytes = layer.total or layer.bytes
        layer.ready = status in _READY


def _state(layers: Collection[_Layer]) -> PullState:
    sizes = [layer.total for layer in layers]
    known = [size for size in sizes if size is not None]
    return PullState(
        bytes=sum(layer.bytes for layer in layers),
        total_bytes=sum(known) if len(known) == len(sizes) else None,
        layers=sum(layer.ready for layer in layers),
        total_layers=len(layers),
    )


class _LimitedStore(Store):  # type: ignore[misc]  # published without types
    """The SDK waits for a credential helper without a limit."""

    def _execute(self, subcmd: str, data_input: bytes) -> bytes:
        if self.exe is None:
            raise StoreError(f"{self.program} is not installed")
        command = [self.exe, subcmd]
        try:
            done = subprocess.run(command, input=data_input, capture_output=True, timeout=_HELPER_SECONDS, check=True)
        except subprocess.CalledProcessError as error:
            raise process_store_error(error, self.program) from error
        except (OSError, subprocess.TimeoutExpired) as error:
            raise StoreError(f"{self.program}: {error}") from error
        return done.stdout


class _Logins(AuthConfig):  # type: ignore[misc]  # as above
    def _get_store_instance(self, name: str) -> Store:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a missing helper is reported below
            return _LimitedStore(name)


def saved_login(host: str, report: Callable[[str], None]) -> dict[str, str] | None:
    """Return the login for a registry, with the keys that the engine knows; None: pull without one.

    As with the docker command, a login that cannot be read does not stop the pull: the registry says whether it needs
    one. But it is reported.
    """
    try:
        config = docker_config()
        if not config.keys() & {"auths", "credsStore", "credHelpers"}:
            return None
        login = _Logins.load_config(None, config).resolve_authconfig(host)
    except (SmlocalError, DockerException, ValueError, LookupError, TypeError, AttributeError) as error:
        report(f"pulling without a login for {host}, as the saved one cannot be read: {error.__cause__ or error}")
        return None
    if not login:
        return None
    server = INDEX_URL if host == INDEX_NAME else host
    # The SDK writes keys in two ways, and leaves the server of an identity token out.
    return {"serveraddress": server} | {key.lower(): value for key, value in login.items() if value}


def ecr_login(image: str) -> RegistryLogin | None:
    """Get a login for an ECR image with the user's AWS credentials; None for other images."""
    match = _ECR_NAME.match(image)
    if match is None:
        return None
    username, _, password = base64.b64decode(_token(image, match["region"])).decode().partition(":")
    return RegistryLogin(username=username, password=password, server=match["host"])


def _token(image: str, region: str) -> str:
    # boto3 publishes no types. Importing it takes 127 ms, only to pull an ECR image.
    import boto3
    from botocore.config import Config
    from botocore.exceptions import BotoCoreError, ClientError, HTTPClientError
    from botocore.exceptions import ConnectionError as UnreachableError  # of the address, or of a proxy

    try:
        # botocore's own limits are five attempts of a minute.
        config = Config(connect_timeout=5, read_timeout=10, retries={"total_max_attempts": 2})
        client: Any = boto3.Session().client("ecr", region_name=region, config=config)
        answer = client.get_authorization_token()
        return str(answer["authorizationData"][0]["authorizationToken"])
    except (UnreachableError, HTTPClientError) as error:
        from smlocal.base.web import proxy_remedy

        raise RegistryUnreachableError(
            f"image {image} is not available locally, and Amazon ECR in {region} is unreachable",
            details=(str(error),),
            remedy=(
                *proxy_remedy(os.environ),
                f"Build or load it here:  docker build -t {image} .     or: docker load -i FILE",
            ),
        ) from error
    except (BotoCoreError, ClientError) as error:
        if is_wrong_clock(str(error)):
            raise ClockWrongError(
                f"image {image} is not available locally, and Amazon ECR refuses a login: "
                "the clock of this machine is wrong",
                details=(str(error),),
                remedy=(CLOCK_REMEDY,),
            ) from error
        raise CredentialsMissingError(
            f"image {image} is not available locally, and pulling it from Amazon ECR needs valid AWS credentials",
            details=(str(error),),
            remedy=(
                "Log in:  aws sso login, aws configure, or set AWS_PROFILE",
                f"Or build or load it here:  docker build -t {image} .",
            ),
        ) from error


_LONGEST_SECONDS = 4 * 3600.0
"""A build that downloads tens of gigabytes takes an hour."""
_END_SECONDS = 10.0
_LINES_SHOWN = 20
"""The lines shown of the errors of a quiet build."""


def build_image(engine: Engine, folder: str, tag: str, *, quiet: bool) -> None:
    """Build the Dockerfile in a folder. The output goes to standard error; nothing is shown if `quiet`."""
    check_dockerfile(folder)
    place = engine.facts().place  # an engine that does not answer is an error of its own
    if place is not None:
        from smlocal.engine import place_build  # for few users

        if not place_build.has_docker_command():
            place_build.build_folder(engine.facts().address, place, folder, tag, quiet=quiet)
            return
    with tempfile.TemporaryDirectory(prefix="smlocal-build-") as scratch:
        id_file = f"{scratch}/id"
        # A build that fails would leave the container of its last step. BuildKit makes none, and ignores --force-rm.
        words = [*engine.docker_command(), "build", "--force-rm", "--tag", tag, "--iidfile", id_file]
        words += [*(["--quiet"] if quiet else []), *(["--network", place.network] if place is not None else [])]
        environment = None if place is None else place_build.environment_of_docker(engine.facts().address)
        _run([*words, "--", folder], folder, quiet=quiet, environment=environment)
        with open(id_file, encoding="ascii") as file:
            image = file.read().strip()
    if engine.image(image) is None:
        raise BuildFailedError(
            f"the image {tag} was built, but the engine does not have it",
            remedy=["The builder in use keeps images to itself. Use the engine's own: docker buildx use default"],
        )


def check_dockerfile(folder: str) -> None:
    """Refuse a folder without a Dockerfile that can be read."""
    path = os.path.join(folder, "Dockerfile")
    try:
        with open(path, "rb"):
            pass
    except OSError as error:
        raise DockerfileMissingError(
            f"cannot read the Dockerfile {path}: {error.strerror}", remedy=["--build names a folder with a Dockerfile."]
        ) from error


def _run(words: list[str], folder: str, *, quiet: bool, environment: Mapping[str, str] | None = None) -> None:
    to = subprocess.PIPE if quiet else sys.stderr.fileno()
    try:
        process = subprocess.Popen(
            words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL if quiet else to, stderr=to, env=environment
        )
    except OSError as error:
        raise BuildUnavailableError(
            f"the docker command cannot be started, and --build needs it: {error.strerror}",
            remedy=[
                "Install the docker client:  sudo apt-get install docker-cli, or docker.io if there is none",
                "Or build the image in another way, and run without --build.",
            ],
        ) from error
    try:
        _, errors = process.communicate(timeout=_LONGEST_SECONDS)
    except subprocess.TimeoutExpired as error:
        raise BuildFailedError(
            f"the build of {folder} took longer than {_LONGEST_SECONDS / 3600:g} hours and was ended"
        ) from error
    finally:
        _end(process)
    if process.returncode != 0:
        lines = (errors or b"Its output above says why.").decode(errors="replace").strip().splitlines()
        raise BuildFailedError(
            f"the image could not be built from {folder}: docker build exited with {process.returncode}",
            details=lines[-_LINES_SHOWN:],
        )


def _end(process: "subprocess.Popen[bytes]") -> None:
    """End a build that is still running. The client is asked to stop, so that the engine hears of it."""
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(_END_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
