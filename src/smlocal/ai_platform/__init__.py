"""AI Platform Training, and the custom jobs of its successor."""
