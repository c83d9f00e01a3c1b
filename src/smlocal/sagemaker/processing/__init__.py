"""Processing jobs of SageMaker, as a kind of job.

A processing job is planned as the training job that needs the same of this machine; then `planning` gives it its own
folders, documents, inputs and outputs.
"""
