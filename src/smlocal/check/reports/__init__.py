"""The report of a check in the forms that CI services read."""
