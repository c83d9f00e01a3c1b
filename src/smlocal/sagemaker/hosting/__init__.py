"""Endpoints of SageMaker's hosting services as a kind of recorded job.

A container serves a model until somebody stops it. The supervisor pings it, starts it again if it dies, and answers
invocations at an address of this machine.
"""
