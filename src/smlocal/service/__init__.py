"""Jobs of the service, as this machine sees them: described, fetched, and sent."""
