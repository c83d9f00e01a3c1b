import re
from collections.abc import Callable

from pages.inserted import with_tables

from smlocal.ai_platform.jobfile.job_file import KINDS, ReplicaReading
from smlocal.jobfile.settings import LocalSettings
from smlocal.terms.model.structure import members


def test_settings_and_faults_are_those_of_the_code(
    page: Callable[[str], str],
    sections: Callable[[str], dict[str, str]],
    rows: Callable[[str], list[list[str]]],
) -> None:
    parts = sections(with_tables(page("ai-platform.md")))
    settings = parts["Settings of this machine"]
    explained = [row[0].strip("`") for row in rows(settings)]
    assert set(explained) <= set(members(LocalSettings)) - set(ReplicaReading.REFUSED)
    refused = settings.partition("their default:\n")[2].partition(".\n")[0]
    assert re.findall(r"`(\w+)`", refused) == list(ReplicaReading.REFUSED)
    assert [row[0].strip("`") for row in rows(parts["Faults"])] == list(KINDS)
