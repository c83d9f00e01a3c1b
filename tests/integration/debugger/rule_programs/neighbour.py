"""Imported by a rule, beside which it is."""

LIMIT = "2"
