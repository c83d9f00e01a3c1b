"""One section for each rule of `smlocal check`, from the rules themselves."""

import shlex
from collections.abc import Iterable, Iterator, Sequence

from smlocal.check.interface import Example, Mark, Rule
from smlocal.check.registry import all_rules
from smlocal.check.subject import LaunchProfile

_MARKS = {
    Mark.DOCUMENTED: "documented by AWS",
    Mark.SEEN: "seen in real jobs",
    Mark.INFERRED: "inferred; AWS does not say it",
    Mark.OWN: "smlocal's own rule about the check itself",
}


def checks_markdown() -> str:
    """The end of docs/checks.md."""
    return "\n".join(_lines(all_rules()))


def _lines(rules: Iterable[Rule]) -> Iterator[str]:
    yield "| rule | severity | what is wrong |\n|---|---|---|"
    rules = tuple(rules)
    for rule in rules:
        yield f"| [`{rule.id}`](#{rule.id}) | {rule.severity} | {rule.title}{_for(rule.profiles)} |"
    yield ""
    for rule in rules:
        yield from _rule(rule)


def _for(profiles: Iterable[LaunchProfile]) -> str:
    names = ", ".join(f"`{profile.option}`" for profile in LaunchProfile if profile in profiles)
    return f" ({names})" if names else ""


def _rule(rule: Rule) -> Iterator[str]:
    yield f"## {rule.id}\n"
    yield f"{rule.title}. Severity: {rule.severity}{_for(rule.profiles)}. Basis: {_MARKS[rule.mark]}.\n"
    yield f"{rule.why}\n"
    yield f"What to do: {rule.remedy}\n"
    if rule.example is not None:
        yield from _example(rule.example)


def _example(example: Example) -> Iterator[str]:
    good_files = example.bad_files if example.good_files is None else example.good_files
    yield "Bad:\n"
    yield from _block(example.bad)
    yield from _files(example.bad_files)
    yield from _job(example.bad_job)
    yield f"Output{_with(example.options)}:\n"
    yield from _block(example.output)
    yield "Good:\n"
    yield from _block(example.bad if example.good is None else example.good)
    if good_files != example.bad_files:
        yield from _files(good_files)
    if example.good_job is not None:
        yield from _job(example.good_job)


def _with(options: Sequence[str]) -> str:
    return f" with `{shlex.join(options)}`" if options else ""


def _job(members: str) -> Iterator[str]:
    if members:
        yield "in a job with:\n"
        yield from _block(members)


def _files(files: Iterable[tuple[str, str]]) -> Iterator[str]:
    for name, content in files:
        if len(content.strip().splitlines()) > 1:
            yield f"with `{name}`:\n"
            yield from _block(content)


def _block(text: str) -> Iterator[str]:
    yield "<!-- output -->\n"
    for line in text.rstrip("\n").replace("\r", "\\r").split("\n"):
        yield f"    {line}" if line else ""
    yield ""
