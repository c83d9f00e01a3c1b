"""Docker contexts and TLS files, read by the docker SDK."""

import os
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

from docker.context import Context, config
from docker.errors import TLSParameterError
from docker.tls import TLSConfig
from docker.utils import kwargs_from_env

from smlocal.engine.docker_config import context_addresses, docker_folder
from smlocal.errors import EngineContextError, EngineTlsError
from smlocal.terms.validation.violation import closest

_LOOKING = Lock()


def read_context(name: str) -> tuple[str, ssl.SSLContext | None]:
    """The address of a context's engine, and its TLS settings if it uses TLS."""
    try:
        with _in_dockers_folder():
            context = Context.load_context(name)
        endpoint = context.endpoints["docker"] if context is not None else None
    except Exception as error:  # the SDK raises a bare Exception for a damaged file
        raise _context_error(f'the Docker context "{name}" cannot be read', str(error)) from error
    if context is None or endpoint is None:
        meant = closest(name, ["default", *context_addresses()])
        suggestion = (f'Did you mean "{meant}"?',) if meant else ()
        raise _context_error(f'the Docker context "{name}" does not exist', *suggestion)
    tls, folder, verify = context.tls_cfg.get("docker"), f"{context.tls_path}/docker", not endpoint["SkipTLSVerify"]
    if tls is None and (os.path.isdir(folder) or not verify):
        # One of the three files is missing. The SDK would not use TLS; the docker command uses the files that exist.
        authority = f"{folder}/ca.pem"
        tls = TLSConfig(ca_cert=authority if os.path.exists(authority) else None, verify=verify)
    return str(endpoint["Host"]), _ssl_context(tls, folder) if tls else None


def environment_tls() -> ssl.SSLContext:
    """The TLS settings for DOCKER_HOST, as in `docker.from_env`."""
    # The SDK's own default is ~/.docker, whatever DOCKER_CONFIG says.
    folder = os.environ.get("DOCKER_CERT_PATH") or docker_folder()
    try:
        tls = kwargs_from_env({**os.environ, "DOCKER_CERT_PATH": folder})["tls"]
    except TLSParameterError as error:
        raise _tls_error(folder, error.msg) from error
    return _ssl_context(tls, folder)


def _ssl_context(tls: TLSConfig, folder: str) -> ssl.SSLContext:
    reading = tls.ca_cert
    try:
        context = ssl.create_default_context(cafile=tls.ca_cert if tls.verify else None)
        if not tls.verify:
            context.check_hostname = False
            context.verify_mode = ssl.CERT_NONE
        if tls.cert:
            certificate, key = tls.cert
            reading = f"{certificate} with {key}"
            context.load_cert_chain(certificate, key, password="")  # an encrypted key fails instead of asking for one
    except (OSError, ValueError) as error:
        raise _tls_error(folder, f"{reading}: {error}") from error
    return context


@contextmanager
def _in_dockers_folder() -> Iterator[None]:
    """Make the SDK look for contexts in the docker command's folder.

    By default it looks next to the first config.json that it finds. `docker context create` makes no config.json, and
    the SDK would then look in another folder, or in the working directory.
    """
    with _LOOKING:
        original = config.find_config_file
        config.find_config_file = lambda: f"{docker_folder()}/config.json"
        try:
            yield
        finally:
            config.find_config_file = original


def _context_error(sentence: str, *details: str) -> EngineContextError:
    remedy = (
        "List contexts with docker context ls; choose one with docker context use NAME.",
        "Without a context, give the engine's address, such as ssh://HOST, with --engine or in DOCKER_HOST.",
    )
    return EngineContextError(sentence, details=details, remedy=remedy)


def _tls_error(folder: str, reason: str) -> EngineTlsError:
    return EngineTlsError(
        f"the TLS files in {folder} cannot be used",
        details=(reason,),
        remedy=(
            "ca.pem, cert.pem and key.pem belong there. DOCKER_CERT_PATH names another folder.",
            "For an engine without TLS, unset DOCKER_TLS_VERIFY and DOCKER_CERT_PATH.",
        ),
    )
