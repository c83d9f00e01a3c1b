"""Tuning jobs of SageMaker as a kind of recorded job.

A tuning job has no container: its supervisor leads a search. It chooses hyperparameters, records ordinary training jobs
with them, and reads their metrics.
"""
