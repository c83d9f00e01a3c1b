"""The existing debugger rules, and the needs of a job's rules: custom sources, and tensors of other jobs."""

from smlocal.data.sources.local_path import cleaned, is_remote, local_path, longest_match
from smlocal.jobs.planning.aspects.rules.asked import rule_locations
from smlocal.jobs.planning.aspects.rules.plan import RuleFacts
from smlocal.sagemaker.jobfile.job_file import JobFile


def rule_facts(job: JobFile) -> RuleFacts:
    """Nothing is read for a job without rules."""
    if not job.request.DebugRuleConfigurations:
        return RuleFacts()
    from smlocal.debugger.evaluator import built_in_rules, recorded_rules  # the room of the debugger

    return RuleFacts(paths=_paths(job), built_in=built_in_rules(), recorded=recorded_rules())


def _paths(job: JobFile) -> dict[str, str]:
    """By location, as written. Those in S3 that `Local.Sources` does not map are left out."""
    found = {}
    directory = job.document.directory
    for rule in job.request.DebugRuleConfigurations or ():
        for uri in rule_locations(rule.RuleParameters or {}):
            if not is_remote(uri):
                found[uri] = cleaned(local_path(uri, directory, job.local.rights))
            elif (match := longest_match(uri, job.local.Sources)) is not None:
                found[uri] = cleaned(local_path(match.value, directory, job.local.rights, match.rest))
    return found
