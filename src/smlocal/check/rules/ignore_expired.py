"""An ignore past its last day."""

from smlocal.check.interface import Example, Mark, Rule, Severity

RULE = Rule(
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
        good="FROM busybox\nCOPY train /usr/local/bin/train\nSTOPSIGNAL SIGINT\n",
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
