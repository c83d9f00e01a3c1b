"""The texts of `smlocal help TOPIC` for topics other than commands, errors and rules.

They fit a terminal of 80 columns. Texts about a task are short and end with the address of a page.
"""

from collections.abc import Mapping
from typing import Final

TOPICS: Final[Mapping[str, str]] = {
    "exit-codes": """\
Exit codes

  0    the job is Completed; the command succeeded
  1    the job Failed because of the container, data, image or disk; a finding
       of check reaches --fail-on; two jobs differ; a job is not reproduced; an
       unexpected error
  2    the request, the configuration file or the command line is refused:
       no job was made
  3    this machine is not ready (engine, permission, GPU, credentials, an
       unreachable registry), or its engine stopped answering: smlocal doctor
  4    the job was Stopped, by smlocal stop, MaxRuntimeInSeconds or
       MaxWaitTimeInSeconds
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
  XDG_DATA_HOME           parent folder of its default
  SMLOCAL_CONFIG          the configuration file; if empty, none is read
  SMLOCAL_ENGINE_TIMEOUT  seconds until a lost engine ends a job, about (60)
  SMLOCAL_ACCESS_KEY_ID, SMLOCAL_SECRET_ACCESS_KEY
                          the key that smlocal serve demands
  DOCKER_HOST, DOCKER_CONTEXT, DOCKER_CONFIG, DOCKER_TLS_VERIFY,
  DOCKER_CERT_PATH        the engine, as for the docker command
  AWS_REGION, AWS_DEFAULT_REGION, AWS_PROFILE,
  AWS_CONFIG_FILE         the region of the job
  SMLOCAL_PROGRESS        --progress of run and rerun
  SMLOCAL_PAGER, PAGER, LESS
                          the pager for long output (less); empty: no pager
  NO_COLOR, TERM=dumb     no colour
  FORCE_COLOR             colour even without a terminal
  SMLOCAL_HYPERLINKS      links in terminals: auto, always or never; none with
                          NO_COLOR, TERM=dumb or CI
  TERM, TERM_PROGRAM, VTE_VERSION
                          whether the terminal shows links
  COLUMNS                 width, if the terminal does not report it
  SHELL, XDG_CONFIG_HOME, ZDOTDIR
                          the shell of completion --install, and its files
  GITHUB_ACTIONS, GITLAB_CI, TF_BUILD
                          the CI service
  GITHUB_WORKSPACE, CI_PROJECT_DIR, BUILD_SOURCESDIRECTORY
                          the root of the repository there
  GITHUB_STEP_SUMMARY, AGENT_TEMPDIRECTORY
                          where the summary of a run is written
""",
    "processing": """\
Processing jobs

An image runs its own program or the request's, and has inputs and outputs.
The file is a CreateProcessingJob request.

  smlocal run processing.yaml
  smlocal describe NAME       outputs, exit message, differences
  smlocal submit FILE         the same on SageMaker

More: https://smlocal.github.io/smlocal/latest/processing/
""",
    "tuning": """\
Tuning jobs

A search runs training jobs and finds the one with the best metric. The file is
a CreateHyperParameterTuningJob request.

  smlocal validate FILE       mistakes, without running anything
  smlocal plan FILE           the first points, and how many there are
  smlocal run FILE
  smlocal report NAME --open  the best over time, every training job
  smlocal deploy NAME         an endpoint with the best model

More: https://smlocal.github.io/smlocal/latest/tuning/
""",
    "pipelines": """\
Pipelines

Steps that run jobs, with values, conditions, retries and a cache between them.
The file is a definition or a CreatePipeline request.

  smlocal validate FILE       every mistake
  smlocal plan FILE           the graph, and what the cache has
  smlocal run FILE -p NAME=VALUE
  smlocal describe NAME       each step, and why the cache missed
  smlocal logs NAME/STEP      the log of the job of a step
  smlocal pipeline succeed TOKEN
                              the answer to a Callback step
  smlocal exec -- python pipeline.py
                              a program of the SDK

A step that only the service can run, such as Lambda, needs a stand-in: in the
file, or for exec and serve in the file of --steps, without Local and Steps.

  Local: {Steps: {NAME: {Python: "file.py:handler"}}}

More: https://smlocal.github.io/smlocal/latest/pipelines/
""",
    "transform": """\
Batch transform

An image started with serve gets every record of the input. The file is a
CreateTransformJob request with the members of CreateModel.

  smlocal run transform.yaml
  smlocal logs NAME           which records failed: the log data-log

More: https://smlocal.github.io/smlocal/latest/transform/
""",
    "endpoint": """\
Endpoints

An image started with serve answers /ping and /invocations.

  smlocal deploy NAME         the model of a job, or of a search
  smlocal deploy model.tar.gz --image IMAGE
  smlocal invoke NAME --body-file request.csv --content-type text/csv
  smlocal endpoints           their addresses
  smlocal models              models and the model registry
  smlocal rm --stop NAME
  smlocal check IMAGE --for serve

More: https://smlocal.github.io/smlocal/latest/deploy/
""",
    "gpu": """\
GPUs

A host gets as many GPUs as its instance type has. If there are too few, the job
is refused.

  --gpus all                  all of this machine, divided among the hosts
  --gpus 2, --gpus 0,2        this many for each host, or these ids
  --allow-cpu                 run without them; the result records it
  smlocal doctor              what this machine and its engine have

More: https://smlocal.github.io/smlocal/latest/machine/#gpus
""",
    "data": """\
Data of a job

A channel is a folder or a file of this machine, or objects in S3.

  --channel training=./data   a folder for a channel
  --source s3://BUCKET/DATA=./data
                              a folder instead of objects in S3
  --set Local.Sample=100      only the first objects of each channel
  smlocal cache ls            what has been downloaded

More: https://smlocal.github.io/smlocal/latest/data/
""",
    "ci": """\
Jobs in CI

  smlocal run FILE --junit results.xml --report result.json
  smlocal check IMAGE --format github

Annotations and a summary are written where a CI service is found. The exit code
says how the job ended: smlocal help exit-codes

More: https://smlocal.github.io/smlocal/latest/ci/
""",
    "engines": """\
Engines

smlocal uses the engine of the docker command: Docker or Podman, with root or
without, on this machine or another one.

  smlocal doctor              what is missing, and how to fix it
  DOCKER_HOST=ssh://HOST smlocal run FILE
  smlocal run FILE --spread-over default --spread-over ssh://HOST
                              jobs on the engine with the most free room

More: https://smlocal.github.io/smlocal/latest/engines/
""",
    "local-mode": """\
Code that uses the SDK's local mode

  smlocal exec -- python train.py

runs it with jobs of smlocal. Use the sessions of the service:
sagemaker.Session() in place of LocalSession(), and an instance type in place of
instance_type="local".

More: https://smlocal.github.io/smlocal/latest/local-mode/
""",
    "studio": """\
SageMaker Studio

An administrator of the domain turns Docker on (EnableDockerAccess); then stop
the space and run it again.

  smlocal doctor              what this place allows
  smlocal run FILE --build .  one host, on the network of the space
  smlocal submit FILE         several hosts, isolation: on the service
  smlocal shell FILE          in a new container; not in a running one
  DOCKER_BUILDKIT=0 docker build --network sagemaker .
                              a build of your own

More: https://smlocal.github.io/smlocal/latest/studio/
""",
    "debugger": """\
Tensors and rules of Debugger

The script makes a hook of smdebug, which reads its configuration from the job.

  smlocal tensors NAME        what the hook saved
  smlocal rules NAME          what the rules found
  smlocal help LossNotDecreasing
                              a rule

More: https://smlocal.github.io/smlocal/latest/debugger/
""",
    "ai-platform": """\
AI Platform Training, custom jobs

Jobs of Google's platforms, with replicas and restarts. Their files have
trainingInput, jobSpec or workerPoolSpecs.

  smlocal run FILE
  smlocal coverage --of CustomJob

More: https://smlocal.github.io/smlocal/latest/ai-platform/
""",
}
