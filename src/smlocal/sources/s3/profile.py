"""The AWS configuration files, as far as S3 needs them: reading them so costs 15 ms, botocore's own reader 200."""

import os
from collections.abc import Mapping
from dataclasses import field

from smlocal.quick_dataclass import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class Profile:
    """What both files say of one profile; a nested section (`s3 =` and indented lines) is a mapping of its own."""

    name: str
    named: bool = False
    """The user asked for this very profile; otherwise it is the default one, which need not exist."""
    exists: bool = False
    config: Mapping[str, str] = field(default_factory=dict)
    secrets: Mapping[str, str] = field(default_factory=dict)
    """The section of the credentials file."""
    services: Mapping[str, str] = field(default_factory=dict)
    """The `[services …]` section that the profile names."""

    def get(self, key: str) -> str:
        """A setting of the config file, empty when it is absent."""
        return self.config.get(key, "").strip()

    def nested(self, section: str, key: str) -> str:
        """A setting inside a nested section of the profile, such as `addressing_style` of `s3`."""
        return _nested(self.config.get(section, "")).get(key, "")

    def service(self, service: str, key: str) -> str:
        """A setting of one service in the `[services …]` section of the profile."""
        return _nested(self.services.get(service, "")).get(key, "")


def read_profile(environment: Mapping[str, str]) -> Profile:
    """The profile that the environment names, or the default one; files that are not there say nothing."""
    asked = environment.get("AWS_PROFILE") or environment.get("AWS_DEFAULT_PROFILE")
    name = asked or "default"
    config = _sections(environment.get("AWS_CONFIG_FILE") or "~/.aws/config")
    secrets = _sections(environment.get("AWS_SHARED_CREDENTIALS_FILE") or "~/.aws/credentials")
    found = config.get(f"profile {name}", config.get(name) if name == "default" else None)
    return Profile(
        name=name,
        named=bool(asked),
        exists=found is not None or name in secrets,
        config=found or {},
        secrets=secrets.get(name, {}),
        services=config.get(f"services {(found or {}).get('services', '').strip()}", {}),
    )


def _sections(path: str) -> dict[str, Mapping[str, str]]:
    path = os.path.expanduser(path)
    # A pipe or a device says nothing twice; and a user without such a file need not pay for the parser.
    if not os.path.isfile(path):
        return {}
    import configparser

    parser = configparser.RawConfigParser(default_section="")
    try:
        with open(path, encoding="utf-8") as file:
            parser.read_file(file)
    except (OSError, UnicodeDecodeError, configparser.Error):
        return {}  # botocore, asked for credentials next, has better words for it
    return {" ".join(name.replace('"', "").split()): parser[name] for name in parser.sections()}


def _nested(text: str) -> dict[str, str]:
    """What a parser has made of indented lines: one text with a setting in every line."""
    pairs = (line.partition("=") for line in text.splitlines())
    return {key.strip(): value.strip() for key, mark, value in pairs if mark}
