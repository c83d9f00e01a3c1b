"""The local files and folders that debugger rules ask for: sources of custom rules, and tensors of other jobs."""

from smlocal.platforms.sagemaker.jobfile.job_file import JobFile
from smlocal.platforms.sagemaker.planning.rules import rule_locations
from smlocal.sources.local_path import cleaned, local_path
from smlocal.sources.mapping import is_remote, longest_match


def rule_paths(job: JobFile) -> dict[str, str]:
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
