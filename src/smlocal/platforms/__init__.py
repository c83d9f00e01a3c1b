"""The platforms whose jobs can be run: what differs between them is below, one folder for each."""
