"""Processing jobs of SageMaker, as a kind of job."""
