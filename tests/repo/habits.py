"""The 25 habits that a person can rely on at the command line, and the tests that hold each.

`repo/test_named_tests.py` checks that they are there. Names ending in `.txt` are recorded screens.
"""

from types import MappingProxyType

_UNIT = "tests/unit/"
_RUNNING_LINE = f"{_UNIT}cli/terminal/test_running_line.py"
_SCREENS = "tests/doors/cli/screens/"
_CLI = "tests/doors/cli/"
_JOBS = "tests/jobs/"
_CONTAINER_RUN = "tests/engines/engine/test_container_run.py"

HABITS = MappingProxyType(
    {
        "1 the exit code is the outcome, and help exit-codes lists all": (
            f"{_JOBS}stop/test_stop.py::test_the_result_table",
            f"{_UNIT}cli/commands/test_help.py::test_all_exit_codes_of_a_job_are_told",
            f"{_UNIT}cli/test_streams.py::test_the_exit_code_does_not_depend_on_the_reader",
            "tests/docs/test_errors.py::test_every_error_has_a_row_with_its_exit_code_and_every_row_is_an_error",
        ),
        "2 results go to stdout and talk to stderr; with --json, stdout is one document": (
            f"{_SCREENS}complete-pipe.txt",
            f"{_SCREENS}error-pipe.txt",
            f"{_CLI}test_output_modes.py::test_events_and_the_answer",
            f"{_CLI}test_unread.py::test_a_detached_job_with_json_is_one_document",
        ),
        "3 --report writes the result completely or not at all": (
            f"{_CLI}test_report.py::test_the_file_is_what_describe_says",
            f"{_CLI}test_report.py::test_a_stop_by_ctrl_c",
            f"{_CLI}test_report.py::test_of_a_detached_job_by_the_process_that_stays_behind",
            f"{_JOBS}crash/test_adoption.py::test_the_files_of_the_result_are_written_by_whoever_finishes_the_job",
            f"{_UNIT}jobs/finish/test_report_files.py::test_a_disk_that_is_full_leaves_the_earlier_report_and_no_draft",
        ),
        "4 plan shows what run will do, and run does that": (
            f"{_SCREENS}plan-80.txt",
            f"{_SCREENS}plan-200.txt",
            "tests/doors/api/test_python_api.py::test_a_plan_is_what_would_be_run",
            f"{_JOBS}start/test_running.py::test_a_plan_writes_and_runs_nothing",
        ),
        "5 a failure shows a docker command to paste, without secrets": (
            f"{_SCREENS}fail-80.txt",
            f"{_JOBS}start/test_docker_command.py::test_it_starts_the_job_again",
            f"{_JOBS}start/test_docker_command.py::test_a_secret_among_hyperparameters_is_not_written_to_files",
            f"{_JOBS}start/test_docker_command.py::test_a_job_that_completed_has_it_with_verbose",
        ),
        "6 phases are the service's, each with a mark and its seconds": (
            f"{_SCREENS}complete-80.txt",
            f"{_SCREENS}stop-80.txt",
        ),
        "7 --progress, NO_COLOR and FORCE_COLOR decide how progress is shown": (
            f"{_CLI}test_live_terminal.py::test_the_time_is_below_a_line_that_grows",
            f"{_CLI}test_live_terminal.py::test_a_dumb_terminal_gets_only_lines",
            f"{_CLI}test_live_terminal.py::test_no_colour_at_the_bottom_either",
            f"{_CLI}test_output_modes.py::test_modes_by_variable_and_file",
            f"{_CLI}test_screens.py::test_without_colours_the_text_is_the_same",
            f"{_RUNNING_LINE}::test_without_a_terminal_there_is_a_line_only_after_ten_silent_seconds",
        ),
        "8 lines of several hosts have prefixes in colours that stay; --timestamps and --no-log-prefix": (
            f"{_SCREENS}hosts-80.txt",
            f"{_SCREENS}hosts-pipe.txt",
            f"{_CLI}test_output_modes.py::test_names_and_times_of_lines",
            f"{_UNIT}cli/views/test_host_prefix.py::test_a_host_has_its_colour_and_its_neighbour_another",
        ),
        "9 the whole log is kept, and a failure shows its last 20 lines": (
            f"{_SCREENS}fail-pipe.txt",
            f"{_JOBS}watch/test_logs.py::test_a_million_lines_and_not_one_less",
            f"{_CLI}test_output_modes.py::test_a_failure_shows_the_last_lines_of_the_host_that_failed",
        ),
        "10 the first Ctrl-C stops with a countdown, the second kills": (
            f"{_SCREENS}stopping-80.txt",
            f"{_CLI}test_live_terminal.py::test_the_countdown_stays_at_the_bottom_of_a_chatty_job",
            f"{_CLI}test_terminal.py::test_a_second_press_kills_at_once",
        ),
        "11 a stop never becomes a failure": (
            "tests/stress/test_race.py::test_a_stop_never_turns_into_a_failure",
            f"{_UNIT}jobs/decide/test_watch.py::test_a_stop_is_recorded_before_the_signal",
        ),
        "12 wait ends with any end of the job, with its exit code": (
            f"{_JOBS}start/test_detach.py::test_wait_tells_how_jobs_ended",
        ),
        "13 the engine's wait decides the end, not the end of the output, and no line is lost": (
            f"{_CONTAINER_RUN}::test_lines_that_a_broken_connection_lost_come_from_the_engine",
            f"{_UNIT}jobs/test_container_run.py::test_streams_that_stay_open_and_silent_are_given_up",
            f"{_JOBS}watch/test_logs.py::test_each_line_is_whole_after_a_takeover",
        ),
        "14 an error says what, why, what to do and where to read more; a traceback only with --debug": (
            f"{_SCREENS}error-80.txt",
            f"{_UNIT}cli/commands/test_help.py::test_the_page_of_every_error",
            f"{_UNIT}cli/commands/test_help.py::test_an_error_names_its_page",
            f"{_UNIT}cli/test_usage.py::test_debug_goes_anywhere",
        ),
        "15 a mistyped word has a suggestion": (
            f"{_SCREENS}error-80.txt",
            f"{_UNIT}api/test_overrides.py::test_a_mistyped_channel_is_refused",
            f"{_UNIT}sagemaker/contract/validation/test_check.py::test_everything_is_told_at_once_with_its_line",
            f"{_UNIT}cli/test_job_names.py::test_similar_names_are_suggested",
            f"{_JOBS}start/test_bad_input.py::test_wrong_flags",
        ),
        "16 a type with GPUs is refused without them; --allow-cpu is in the result": (
            f"{_JOBS}start/test_bad_input.py::test_a_gpu_instance_on_an_engine_without_gpus",
            f"{_JOBS}start/test_bad_input.py::test_allow_cpu_runs_it_and_stands_in_the_result",
        ),
        "17 doctor says what this machine lacks, and what to do": (
            f"{_SCREENS}doctor-80.txt",
            "tests/doors/doctor/test_doctor.py::test_people_see_a_mark_a_sentence_and_what_to_do",
            f"{_CLI}test_screens.py::test_marks_of_the_doctor_have_the_colours_of_a_run",
        ),
        "18 a configuration file is found upwards; config show has the origin of each value": (
            f"{_UNIT}cli/test_configuration.py::test_the_nearest_file_gives_defaults",
            f"{_UNIT}cli/test_configuration.py::test_flags_and_the_job_file_come_first",
            f"{_UNIT}cli/test_configuration.py::test_show_has_each_value_with_its_origin",
        ),
        "19 the input is the service's request; what is local is apart": (
            "tests/docs/test_job_file_page.py::test_the_first_job_file_can_be_submitted_without_local",
            f"{_UNIT}cli/commands/test_validate.py::test_strict_is_what_the_service_takes",
        ),
        "20 JSON Schemas of job file and result are published and tested": (
            f"{_UNIT}sagemaker/test_schema.py::test_every_member_is_there_with_what_becomes_of_it",
            f"{_UNIT}sagemaker/contract/test_models.py::test_pydantic_decides_alike",
            f"{_JOBS}watch/test_result_schema.py::test_of_jobs_that_end_in_each_way",
        ),
        "21 shells complete names of jobs; --help is instant": (
            f"{_UNIT}cli/commands/test_completion.py::test_bash_completes_commands_names_and_rules",
            f"{_UNIT}cli/commands/test_completion.py::test_the_script_of_each_shell",
            f"{_UNIT}cli/commands/test_completion.py::test_a_new_shell_completes",
            f"{_UNIT}cli/commands/test_completion.py::test_installing_twice_is_as_once_and_can_be_undone",
            f"{_UNIT}cli/test_imports.py::test_help_imports_click_and_little_else",
        ),
        "22 CI services are detected and get groups, annotations and summaries; --junit": (
            f"{_UNIT}base/ci/test_services.py::test_the_service_is_found",
            f"{_CLI}test_ci.py::test_github_gets_an_annotation_and_a_summary",
            f"{_CLI}test_ci.py::test_the_group_on_gitlab",
            f"{_CLI}test_ci.py::test_the_junit_file_of_a_job_that_fails",
        ),
        "23 a pytest fixture runs jobs": (
            "tests/doors/pytest_plugin/test_training_job.py::test_a_job_that_completes_and_is_forgotten",
            "tests/doors/pytest_plugin/test_training_job.py::test_side_by_side_under_xdist",
            "tests/doors/pytest_plugin/test_training_job.py::test_what_a_killed_run_leaves_goes_with_one_command",
        ),
        "24 jobs are listed, shown, run again and removed, one by one or by status and age": (
            f"{_SCREENS}jobs-80.txt",
            f"{_SCREENS}describe-80.txt",
            f"{_JOBS}start/test_rerun.py::test_from_another_folder_with_changes",
            f"{_UNIT}cli/commands/test_rm.py::test_by_status_and_age",
            f"{_UNIT}cli/commands/test_rm.py::test_what_has_not_ended_stays",
        ),
        "25 files stay the user's": (
            "tests/data/artifacts/test_ordinary_user.py::test_a_container_that_hides_everything",
            f"{_JOBS}rights/test_other_user.py::test_nothing_is_left_that_needs_root",
            f"{_UNIT}data/artifacts/test_ownership.py::test_for_a_rootless_engine_this_user_is_root",
        ),
    }
)
