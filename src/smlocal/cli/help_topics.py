"""The texts of `smlocal help TOPIC`."""

TOPICS = {
    "exit-codes": """\
Exit codes

  0    the job is Completed; the command succeeded
  1    the job Failed; a check found something; two jobs differ; a job is not
       reproduced; an unexpected error
  2    the request, the configuration file or the command line is refused:
       no job was made
  3    this machine is not ready, or its engine stopped answering:
       smlocal doctor
  4    the job was Stopped, by smlocal stop or because it reached its time limit
  124  smlocal wait --timeout: the jobs have not ended yet
  130  stopped by Ctrl-C (SIGINT)
  143  stopped by SIGTERM or SIGHUP

The exit code of the container is in smlocal describe NAME --json (Local.Hosts),
not in these.
""",
    "job-names": """\
Names of jobs

Wherever a command takes NAME, write
  the name of a job,
  its beginning, if no other job's name begins with it, or
  @last for the newest job.

smlocal rm also takes shell patterns in quotes, such as 'test-*'. A new job gets
its name from --name, from TrainingJobName, or from the job file and the time.
smlocal jobs lists all names.
""",
    "configuration": """\
Configuration file

smlocal.toml, or [tool.smlocal] in pyproject.toml, in the current folder or the
nearest folder above it. Keys are the long names of flags, at the top for all
commands or in a table for one:

  output = "./artifacts"
  [run]
  pull = "never"

Relative paths are relative to the file. A flag on the command line counts
first, then the job file, then this file. smlocal config show prints the values.
SMLOCAL_CONFIG names another file; if it is empty, none is read.
""",
    "environment": """\
Environment variables

  SMLOCAL_HOME            folder where jobs are stored
  SMLOCAL_CONFIG          the configuration file; if empty, none is read
  SMLOCAL_ENGINE_TIMEOUT  seconds until a lost engine ends a job, about (60)
  DOCKER_HOST, DOCKER_CONTEXT, DOCKER_CONFIG, DOCKER_TLS_VERIFY,
  DOCKER_CERT_PATH        the engine
  AWS_REGION, AWS_DEFAULT_REGION, AWS_PROFILE,
  AWS_CONFIG_FILE         the region of the job
  SMLOCAL_PROGRESS        --progress of run and rerun
  NO_COLOR, TERM=dumb     no colour
  FORCE_COLOR             colour elsewhere than on a terminal too
""",
}
