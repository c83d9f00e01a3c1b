import re
from collections.abc import Callable

from smlocal.contract.model.structure import members
from smlocal.jobfile.local_settings import LocalSettings
from smlocal.platforms.ai_platform.jobfile.fault_rules import KINDS
from smlocal.platforms.ai_platform.jobfile.local_block import WITHOUT_MEANING


def test_settings_and_faults_are_those_of_the_code(
    page: Callable[[str], str],
    sections: Callable[[str], dict[str, str]],
    rows: Callable[[str], list[list[str]]],
) -> None:
    parts = sections(page("ai-platform.md"))
    settings = parts["Settings of this machine"]
    explained = [row[0].strip("`") for row in rows(settings)]
    assert set(explained) <= set(members(LocalSettings)) - set(WITHOUT_MEANING)
    refused = settings.partition("their default: ")[2].partition(".")[0]
    assert re.findall(r"`(\w+)`", refused) == list(WITHOUT_MEANING)
    assert [row[0].strip("`") for row in rows(parts["Faults"])] == list(KINDS)
