"""Executions of pipelines: a kind of job that leads others, by the operations with which clients make them.

The definition, its values and what is decided are in `sagemaker/pipelines`, which calls nothing.
"""
