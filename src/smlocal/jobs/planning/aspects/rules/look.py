"""The existing debugger rules, and the needs of a job's rules: custom sources, and tensors of other jobs."""

from smlocal.data.sources.local_path import cleaned, is_remote, local_path, longest_match
from smlocal.jobs.planning.aspects.rules.plan import RuleFacts, rule_locations
from smlocal.jobs.planning.workload import Workload


def rule_facts(work: Workload) -> RuleFacts:
    """Nothing is read for a job without rules."""
    if not work.rules:
        return RuleFacts()
    from smlocal.debugger.evaluator import built_in_rules, recorded_rules  # the room of the debugger

    return RuleFacts(paths=_paths(work), built_in=built_in_rules(), recorded=recorded_rules())


def _paths(work: Workload) -> dict[str, str]:
    """By location, as written. Those in S3 that `Local.Sources` does not map are left out."""
    found = {}
    directory = work.document.directory
    for rule in work.rules:
        for uri in rule_locations(rule.parameters):
            if not is_remote(uri):
                found[uri] = cleaned(local_path(uri, directory, work.local.rights))
            elif (match := longest_match(uri, work.local.Sources)) is not None:
                found[uri] = cleaned(local_path(match.value, directory, work.local.rights, match.rest))
    return found
