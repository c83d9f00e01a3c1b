"""Whether this machine is ready for jobs: one file per check, each with what to do if it finds something."""
