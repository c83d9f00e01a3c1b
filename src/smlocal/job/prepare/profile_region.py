"""The region of the AWS profile in use, read without the AWS library."""

import os


def profile_region() -> str | None:
    """None where no file says one."""
    path = os.path.expanduser(os.environ.get("AWS_CONFIG_FILE") or "~/.aws/config")
    if not os.path.isfile(path):
        return None
    import configparser  # most people have no such file

    parser = configparser.RawConfigParser()
    try:
        parser.read(path, encoding="utf-8")
    except (configparser.Error, OSError, UnicodeDecodeError):
        return None
    profile = os.environ.get("AWS_PROFILE") or "default"
    section = "default" if profile == "default" else f"profile {profile}"
    return parser.get(section, "region", fallback=None)
