"""An ignore that matches nothing."""

from smlocal.check.interface import Example, Mark, Rule, Severity

RULE = Rule(
    id="ignore-unused",
    severity=Severity.WARNING,
    title="An ignore matches no finding",
    why=(
        "An ignore that matches nothing is left over from a mistake that was corrected, or has a wrong Path. It would "
        "hide the next mistake of its kind. Only rules that were judged count, not those that were skipped or left "
        "out."
    ),
    mark=Mark.OWN,
    remedy="Remove the ignore, or correct its Path.",
    check=lambda _: (),  # judged from the results of all others
    is_general=True,
    example=Example(
        bad="FROM busybox\nCOPY train /usr/local/bin/train\n",
        good="FROM busybox\nCOPY train /usr/local/bin/train\nSTOPSIGNAL SIGINT\n",
        bad_files=(("train", '#!/bin/sh\necho "$@"\n'),),
        options=("--only", "stop-signal", "--ignore", "stop-signal=the program handles SIGINT"),
        output="the ignore of stop-signal matches no finding: the program handles SIGINT",
    ),
)
