"""Whether this machine is ready for jobs, and what to do if it is not."""
