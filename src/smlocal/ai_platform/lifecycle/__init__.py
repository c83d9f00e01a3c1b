"""How a job of AI Platform Training goes from its start to its end: a pure state machine over events and time."""
