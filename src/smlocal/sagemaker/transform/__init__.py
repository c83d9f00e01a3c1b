"""Batch transform of SageMaker as a kind of recorded job.

A container serves a model; every record of the input is sent to it, and its answers become the output. The container
and its model are those of an endpoint (`sagemaker.serving`, `sagemaker.hosting`).
"""
