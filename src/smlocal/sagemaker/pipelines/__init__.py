"""Pipelines: definitions, their values, what runs next, the cache. Pure; what does it stands elsewhere."""
