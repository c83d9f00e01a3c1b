"""The ignores themselves."""

from smlocal.check.interface import Example, Mark, Rule, Severity

IGNORE_UNUSED = Rule(
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


IGNORE_EXPIRED = Rule(
    id="ignore-expired",
    severity=Severity.WARNING,
    title="An ignore has ended",
    why=(
        "An ignore with `Until` counts up to and including that day. After it, the findings count again, and this rule "
        "says why they are back."
    ),
    mark=Mark.OWN,
    remedy="Correct the ignored findings, or decide again and set a later day.",
    check=lambda _: (),  # judged from the ignores themselves
    is_general=True,
    example=Example(
        bad="FROM busybox\nCOPY train /usr/local/bin/train\nSTOPSIGNAL SIGINT\n",
        bad_files=(("train", '#!/bin/sh\necho "$@"\n'),),
        bad_job=(
            "Local:\n  Check:\n    Ignore:\n"
            '      - {Id: stop-signal, Reason: the program handles SIGINT, Until: "2026-01-31"}\n'
        ),
        good_job=(
            "Local:\n  Check:\n    Ignore:\n"
            '      - {Id: stop-signal, Reason: the program handles SIGINT, Until: "2099-12-31"}\n'
        ),
        options=("--only", "stop-signal"),
        output="the ignore of stop-signal ended on 2026-01-31: the program handles SIGINT",
    ),
)


RULES = (
    IGNORE_UNUSED,
    IGNORE_EXPIRED,
)
