"""Whether this machine is ready for jobs: one file per question, each answered with what to do about it."""
