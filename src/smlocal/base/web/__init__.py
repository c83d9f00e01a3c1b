"""What every address that this machine opens has in common: HTTP messages, who is answered, and how much is held."""
