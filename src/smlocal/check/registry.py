"""All rules, in the order in which they are looked at and shown."""

from collections.abc import Iterable, Sequence
from functools import cache
from importlib import import_module

from smlocal.check.interface import Rule
from smlocal.check.subject import LaunchProfile
from smlocal.errors import CheckRuleUnknownError
from smlocal.terms.validation.violation import closest

RULES = (
    "train_missing",
    "train_not_executable",
    "train_line_endings",
    "train_interpreter",
    "train_format",
    "image_architecture",
    "entrypoint_shell_form",
    "entrypoint_script",
    "entrypoint_init",
    "entrypoint_without_exec",
    "stop_signal",
    "reserved_files",
    "reserved_volume",
    "user_cannot_write",
    "failure_file_path",
    "toolkit_variables",
    "toolkit_unusable",
    "variable_overridden",
    "variable_secret",
    "gpu_driver",
    "gpu_variables",
    "image_size",
    "server_missing",
    "server_not_executable",
    "processing_program_missing",
    "processing_programs",
    "model_trainer_stop",
    "model_trainer_programs",
    "model_trainer_mpi_programs",
    "remote_function_programs",
    "toolkit_programs",
    "toolkit_mpi_programs",
    "smddp_programs",
    "job_fails",
    "failure_file_ignored",
    "no_model",
    "manifest_taken_for_data",
    "needs_network",
    "no_channels_unexplained",
    "empty_channel_unexplained",
    "bad_hyperparameter_unexplained",
    "sigterm_unhandled",
    "stop_loses_model",
    "two_hosts_fail",
    "restart_fails",
    "pipe_mode_fails",
    "fast_file_mode_fails",
    "late_names_fail",
    "late_fifo_fails",
    "writes_elsewhere",
    "memory_near_limit",
    "no_listener",
    "localhost_only",
    "ping_unhealthy",
    "rubbish_accepted",
    "one_request_at_a_time",
    "connections_not_accepted",
    "model_folder_written",
    "server_ignores_sigterm",
    "trained_model_fails",
    "ignore_unused",
    "ignore_expired",
)
"""Each is a module of its name in `rules`; the id of the rule is the same with dashes."""


@cache
def all_rules() -> tuple[Rule, ...]:
    """Every rule there is."""
    rules = [import_module(f"smlocal.check.rules.{name}").RULE for name in RULES]
    assert all(isinstance(rule, Rule) for rule in rules)  # noqa: S101 - of our own making; mypy cannot follow
    return tuple(rules)


def check_ids(ids: Iterable[str], where: str) -> None:
    """Refuse ids that no rule has; `where` says who gave them."""
    known = [rule.id for rule in all_rules()]
    for each in ids:
        if each not in known:
            near = closest(each, known)
            raise CheckRuleUnknownError(
                f"{where}: there is no rule {each!r}",
                remedy=[f"Did you mean {near}?" if near else f"The rules are: {', '.join(known)}"],
            )


def chosen_rules(
    *, only: Sequence[str] = (), skip: Sequence[str] = (), profiles: Iterable[LaunchProfile] = (), static: bool = False
) -> tuple[Rule, ...]:
    """The rules to check. A rule named by `only` is among them whatever the profile.

    Training is checked unless only serving or processing is asked for.
    """
    check_ids(only, "--only")
    check_ids(skip, "--skip")
    wanted = frozenset(profiles)
    others = {LaunchProfile.SERVE, LaunchProfile.PROCESSING}
    training = not others & wanted or LaunchProfile.TRAIN_AND_SERVE in wanted
    return tuple(
        rule
        for rule in all_rules()
        if rule.id not in skip
        and not (static and rule.runs_jobs)
        and (rule.id in only if only else _is_wanted(rule, wanted, training=training))
    )


def _is_wanted(rule: Rule, wanted: frozenset[LaunchProfile], *, training: bool) -> bool:
    if rule.profiles:
        return bool(rule.profiles & wanted)
    return training or rule.is_general
