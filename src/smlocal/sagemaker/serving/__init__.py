"""Models that answer requests, and endpoints as clients know them: what endpoints and transform jobs share.

A file of models, its rules and its variants; an endpoint by its name, its address and its stored state.
"""
