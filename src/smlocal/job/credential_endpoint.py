"""The credentials endpoint of one job: keys are fetched before the job is made and served while containers run."""
