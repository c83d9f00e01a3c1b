"""The names of AWS's services: `smlocal exec` answers for them, and its certificates are for no others."""

import re

DOMAINS = (
    "amazonaws.com",
    "api.aws",
    "amazonaws.com.cn",
    "api.amazonwebservices.com.cn",
    "amazonaws.eu",
    "api.amazonwebservices.eu",
    "c2s.ic.gov",
    "api.aws.ic.gov",
    "sc2s.sgov.gov",
    "api.aws.scloud",
    "cloud.adc-e.uk",
    "api.cloud-aws.adc-e.uk",
    "csp.hci.ic.gov",
    "api.aws.hci.ic.gov",
)
"""Of all partitions that botocore knows, with one and with two kinds of addresses (dual stack)."""
_ENDS = tuple(f".{domain}" for domain in DOMAINS)
_LONGEST_NAME = 253
_LABELS = re.compile(r"(?:[a-z0-9_-]{1,63}\.)+[a-z0-9-]{1,63}")


def is_aws(host: str) -> bool:
    """True for a name of AWS's services, in lower case and without a dot at its end."""
    return host.endswith(_ENDS) and len(host) <= _LONGEST_NAME and _LABELS.fullmatch(host) is not None


def is_above_aws(domain: str) -> bool:
    """True if this domain, as in `NO_PROXY`, has names of AWS's services below it, or is one."""
    name = domain.strip().lower().partition(":")[0].strip(".").removeprefix("*.")
    return name == "*" or any(each == name or each.endswith(f".{name}") for each in DOMAINS) or is_aws(name)
