"""Containers in which a person looks around: of a running job, of an ended one as it was left, or of a new one."""
