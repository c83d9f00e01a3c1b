"""The rules of SageMaker Debugger, and the program that evaluates one of them.

It runs in the container of a rule, with smdebug at its pins and without smlocal, so nothing here imports smlocal.
"""
