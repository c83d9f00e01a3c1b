"""A program that serves, without the permission to be executed."""

from smlocal.check.image_files import PROGRAMS, USERS
from smlocal.check.interface import Example, Mark, Rule, Severity
from smlocal.check.starting import not_executable
from smlocal.check.subject import LaunchProfile

RULE = Rule(
    id="server-not-executable",
    severity=Severity.ERROR,
    title="The serve program is not executable",
    why=(
        "The engine starts the ENTRYPOINT of the image, or `serve` from its PATH, as a program. A file without execute "
        "permission is not started. COPY keeps the permissions that the file has beside the Dockerfile."
    ),
    mark=Mark.INFERRED,
    remedy="Run chmod +x on it before COPY, or RUN chmod +x in the Dockerfile.",
    check=lambda subject: not_executable(subject.as_server),
    files=(PROGRAMS, USERS),
    profiles=frozenset({LaunchProfile.SERVE, LaunchProfile.TRAIN_AND_SERVE}),
    example=Example(
        bad="FROM busybox\nCOPY serve /usr/local/bin/serve\nRUN chmod 644 /usr/local/bin/serve\n",
        good="FROM busybox\nCOPY serve /usr/local/bin/serve\nRUN chmod 755 /usr/local/bin/serve\n",
        bad_files=(("serve", "#!/bin/sh\nexec httpd -f -p 8080\n"),),
        output='/usr/local/bin/serve is not executable (mode 0644): exec: "serve": executable file not found in $PATH',
    ),
)
