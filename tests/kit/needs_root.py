"""Tests that are skipped when a user of the docker group runs them, and why; everything else passes.

Keys are test ids below `tests/`, or what some of them begin with.
"""

import os

from smlocal.data.channels.fastfile.availability import why_no_fuse

_BECOMES = "only root can become somebody else"
_MOUNTS = "only root may mount"
_OWN = "inside, files that smlocal brings for a user are this user's; the test expects root's"
_SCRIPT = "the script of a plan copies to and removes folders that are root's by then"
_PORT = "only root may listen at port 80: containers find their credentials by another variable"
_GONE = "the container through which folders are given back to the user is taken away"
_ENGINES = "only root may start the two engines"
_ROOTS = "folders of a running job and volumes are root's, and the test looks into them"

NEEDS_ROOT = {
    "data/artifacts/test_ordinary_user.py": _BECOMES,
    "data/channels/test_fastfile_faults.py::test_somebody_who_is_not_root_mounts_and_unmounts": _BECOMES,
    "data/channels/test_file_mode.py::test_removing_the_volumes_leaves_nothing": _ROOTS,
    "doors/doctor/test_doctor.py::test_a_full_disk": _MOUNTS,
    "doors/tool_image/": _ROOTS,
    "jobs/fail/test_data.py::test_data_that_goes_during_training_ends_nothing": _GONE,
    "jobs/fail/test_data.py::test_the_whole_folder_goes_before_the_engine_mounts_it": _GONE,
    "jobs/fail/test_engine.py::test_the_engine_cannot_start_the_container": _GONE,
    "jobs/fail/test_engine.py::test_the_engine_is_lost_before_the_container_runs": _GONE,
    "jobs/fail/test_engine.py::test_the_engine_is_lost_while_the_container_runs": _GONE,
    "stress/test_benchmarks.py::test_a_benchmark_prints_its_rows[several_engines]": _ENGINES,
    "jobs/spot/test_checkpoints.py::test_restored_changed_and_saved": _OWN,
    "jobs/rights/test_credentials.py::test_keys_are_written_nowhere": _PORT,
    "jobs/rights/test_credentials.py::test_they_are_renewed_and_an_end_of_that_is_told": _PORT,
    "jobs/rights/test_credentials.py::test_they_come_back_after_a_crash": _PORT,
    "jobs/rights/test_credentials.py::test_two_jobs_at_once_get_their_own_and_nobody_else_any": _PORT,
    "jobs/fail/test_hints.py::test_a_full_volume": _MOUNTS,
    "data/in_jobs/test_s3_jobs.py::test_file_mode": _OWN,
    "jobs/start/test_script.py::test_mirrored_folders_by_hand": _SCRIPT,
    "jobs/start/test_script.py::test_script_and_run_agree": _SCRIPT,
    "jobs/crash/test_adoption.py::test_a_job_whose_folder_was_deleted_ends": _ROOTS,
    "jobs/crash/test_crash.py::test_killed_at_a_phase_boundary": _ROOTS,
}
"""With why."""

NEEDS_FUSE = (
    "data/channels/test_fastfile.py",
    "data/channels/test_fastfile_faults.py",
    "data/in_jobs/test_s3_jobs.py::test_a_fast_file_server_that_dies_fails_the_job",
    "data/in_jobs/test_s3_jobs.py::test_a_supervisor_that_dies_leaves_no_mount",
    "data/in_jobs/test_s3_jobs.py::test_fast_file",
    "jobs/start/test_toolkit.py::test_the_script_reads_its_channel[FastFile-s3]",
    "data/in_jobs/test_mac_disk.py",
    "data/in_jobs/test_unread_objects.py",
    "stress/test_benchmarks.py::test_a_benchmark_prints_its_rows[fastfile]",
)
"""Needed by any user."""


def why_skipped(path: str) -> str | None:
    """Why this user cannot run a test; None if it can."""
    if path.startswith(NEEDS_FUSE) and (trouble := why_no_fuse()):
        return trouble
    if os.geteuid() == 0:
        return None
    return next((why for begin, why in NEEDS_ROOT.items() if path.startswith(begin)), None)
