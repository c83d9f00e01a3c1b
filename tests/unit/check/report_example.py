"""A check with one of everything, and with text that is hard to write down."""

from collections.abc import Sequence

from smlocal.check.interface import CheckReport, Finding, Ignored, Mark, Rule, RuleResult, Severity

HOSTILE = '/opt/<&">]]>/\udcff \x1b[31m##vso[task.x]y\n::error::z'


def rule(name: str, severity: Severity) -> Rule:
    return Rule(
        id=name,
        severity=severity,
        title=f"Title of {name}",
        why=f"Why {name}.",
        mark=Mark.DOCUMENTED,
        remedy=f"Mend {name}.",
        check=lambda _: (),
    )


def result(
    name: str, severity: Severity = Severity.ERROR, findings: Sequence[Finding] = (), **more: object
) -> RuleResult:
    given: dict[str, object] = {"rule": rule(name, severity), "seconds": 0.25, "findings": tuple(findings), **more}
    return RuleResult(**given)  # type: ignore[arg-type]  # every test gives what it needs


def report(*results: RuleResult, dockerfile: str = "images/a b/Dockerfile", job_file: str = "") -> CheckReport:
    return CheckReport(
        image="my-image:1", image_id="sha256:ab", job_file=job_file, dockerfile=dockerfile, results=results
    )


def everything() -> CheckReport:
    """Errors at known and unknown lines, a warning, a note, a rule that passed, two that were skipped, an ignore."""
    return report(
        result(
            "bad-files",
            findings=[
                Finding(message="first", path="/opt/ml/input/a", layer=1, file="images/a b/Dockerfile", line=7),
                Finding(message="first again", path="/opt/ml/input/a", layer=2),
                Finding(message=f"hostile {HOSTILE}", path=HOSTILE, file=f"d/{HOSTILE[:4]}", line=2),
            ],
            skipped="the image went away",
        ),
        result(
            "bad-user", Severity.WARNING, [Finding(message="a warning", instruction="USER", job="job-1", host="algo-2")]
        ),
        result("remark", Severity.INFO, [Finding(message="a note")]),
        result("fine"),
        result("not-seen", skipped=f"no files {HOSTILE}"),
        result(
            "lived-with",
            ignored=(Ignored(finding=Finding(message="known", path="/a"), reason="only here", until="2999-01-01"),),
        ),
    )
