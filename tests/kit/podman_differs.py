"""Tests that cannot pass on Podman, and why; everything else that needs an engine does. docs/engines.md says it to
users.

Keys are test ids below `tests/`, or what some of them begin with.
"""

_WORDS = "Podman says it in other words, or with another status; nothing in smlocal looks at them"
_ROOTS = "the socket of Podman is root's alone"
_QUOTES = "Podman mounts no overlay of a folder with such a name: the plan has it copied"
_COLON = "docker commands cannot mount a folder with a colon in its name on Podman"
_MEMORY = "Podman does not say that memory has run out"
_TLS = "Podman wants TLS of a registry on this machine, unless its configuration names the port"
_ALONE = "Podman's networks are there only while a container is on them"

DIFFERS_ON_PODMAN = {
    "data/artifacts/test_ordinary_user.py": _ROOTS,
    "data/channels/test_file_mode.py::test_odd_folder_names[True-\\\\:,]": _QUOTES,
    'data/channels/test_file_mode.py::test_odd_folder_names[True-double"quote]': _QUOTES,
    'data/channels/test_file_mode.py::test_odd_folder_names[False-double"quote]': _QUOTES,
    "doors/action/test_action.py::test_it_installs_itself_once": "pip has no way out of Podman's network here",
    "doors/check/test_examples.py::test_an_example[late-names-fail]": (
        "this busybox may ask Podman's DNS before /etc/hosts"
    ),
    "doors/cli/test_build.py::test_a_signal_ends_the_build": "what it builds in is not in its list of containers",
    "doors/cli/test_screens.py": "Docker's screens are recorded; on Podman notes and limits are others",
    "doors/doctor/test_doctor.py::test_this_machine_is_ready_and_nothing_is_left_of_the_look": "/dev/shm has 62 MiB",
    "doors/doctor/test_doctor.py::test_people_see_a_mark_a_sentence_and_what_to_do": (
        "GPUs are refused for another reason"
    ),
    "engines/engine/test_containers.py::test_a_bind_mount_of_nothing_is_refused": "Podman makes the folder",
    "engines/engine/test_containers.py::test_a_container_that_cannot_start": _WORDS,
    "engines/engine/test_containers.py::test_a_volume_below_a_bind_mount": "a mounted folder has no comma in its path",
    "engines/engine/test_containers.py::test_an_engine_without_gpus_says_so": "Podman ignores requests for GPUs",
    "engines/engine/test_containers.py::test_an_image_that_is_not_here": _WORDS,
    "engines/engine/test_containers.py::test_waiting_for_what_is_not_there": _WORDS,
    "engines/engine/test_containers.py::test_bytes_that_a_container_wrote": "Podman counts files of its own as well",
    "engines/engine/test_output.py::test_attaching_to_what_is_not_there": _WORDS,
    "engines/engine/test_fault_programs.py": _MEMORY,
    "engines/engine/test_memory_events.py::test_the_word_is_there_when_the_state_lacks_it": _MEMORY,
    "engines/engine/test_pull.py": _TLS,
    "engines/engine/test_resources.py::test_a_volume_in_use_is_an_error": _WORDS,
    "engines/engine/test_resources.py::test_an_archive_of_nothing": _WORDS,
    'engines/engine/test_resources.py::test_an_overlay_volume_is_writable_and_leaves_the_lower_folder_alone[quo"te]': (
        _QUOTES
    ),
    "engines/engine/test_resources.py::test_archives_carry_owners_and_modes_both_ways": (
        "what is unpacked becomes root's"
    ),
    "engines/engine/test_resources.py::test_peers_find_each_other_by_alias": (
        "busybox's nslookup wants an IPv6 address as well"
    ),
    "engines/engine/test_resources.py::test_two_may_remove_the_same_container": _WORDS,
    "jobs/fail/test_engine.py::test_the_engine_cannot_start_the_container": _WORDS,
    "jobs/fail/test_killed.py::test_out_of_memory": "it has no `docker update`",
    "jobs/fail/test_pulls.py": _TLS,
    "contract/conformance/test_conformance.py::test_limits_and_rights_are_those_of_a_plain_container": (
        "its defaults are others"
    ),
    "jobs/start/test_docker_command.py::test_it_starts_the_job_again": "`docker run --rm` does not learn the exit code",
    "doors/server/test_container_objects.py": _ALONE,
    "jobs/start/test_submitted.py::test_containers_of_a_submitted_job_get_credentials": (
        "nobody can serve credentials to its containers: its networks exist only while one uses them"
    ),
    "jobs/watch/test_shell.py::test_a_kept_job_whose_image_is_gone": "an image is removed with its containers",
    "jobs/start/test_bad_input.py::test_a_gpu_instance_on_an_engine_without_gpus": (
        "GPUs are refused for another reason"
    ),
    "jobs/limits/test_isolation.py::test_an_isolated_host_reaches_nothing": "the network has link-local IPv6",
    "jobs/limits/test_limits.py::test_each_limit_reaches_the_container": (
        "its runc may not set such limits on every machine"
    ),
    "jobs/rights/test_other_user.py": _ROOTS,
    "contract/ai_platform/test_bad_job_files.py::test_accelerators_that_this_machine_does_not_have": (
        "GPUs are refused for another reason"
    ),
    "contract/ai_platform/test_fault_programs.py": _MEMORY,
    "contract/ai_platform/test_what_replicas_find.py::test_a_script_of_pytorch_derives_its_ranks": (
        "its runc may not set limits on every machine"
    ),
    "jobs/watch/test_usage.py::test_a_peak_between_two_samples_is_seen": (
        "Podman does not give the highest use of memory"
    ),
    "contract/test_cases.py::test_case[environment]": "TERM and container are set besides",
    "jobs/start/test_script.py::test_an_ordinary_user_owns_the_results": _ROOTS,
    "jobs/start/test_script.py::test_script_and_run_agree[1-overlay]": _COLON,
    "jobs/start/test_script.py::test_script_and_run_agree[2-overlay]": _COLON,
    "contract/test_cases.py::test_case[own-name]": "the container's own name is in /etc/hosts twice",
    "docs/test_example_pages.py::test_the_pictures_of_the_readme_are_not_old": (
        "Docker is in the pictures; on Podman the notes are others"
    ),
}
"""With why; a mark on each would hide from a reader what they have in common."""

NOT_OF_AN_ENGINE = (
    "clients/test_launchers.py",  # about toolkits, in 4 GB of images; jobs/hosts/test_launchers.py is about the network
    "contract/mutation/",  # the tests that it runs are
    "jobs/limits/test_gpus.py",
    "engines/podman/",
    "doors/place/",  # SageMaker Studio has Docker
    "engines/studio/",
    "data/s3/",
    "data/sources/",
    "data/in_jobs/test_mac_disk.py",
    "doors/remote/test_unseen_folders.py",
    "doors/remote/test_virtual_machine.py",
    "doors/tool_image/",
    "jobs/hosts/swarm/",
    "docs/test_docs.py",
    "engines/test_image_script.py",
    "repo/test_packaging.py",
)
"""They use no engine, or one of their own choice, as do those with a dockerd of their own: not run with a Podman."""
MOSTLY_OF_NONE = ("data/artifacts/", "data/channels/")
"""Only those of these tests run that ask for an image or the engine's client."""
