"""Archives that somebody else has made, read as they come, with limits, and unpacked without following links.

The standard library's `tarfile` reads none of them: it takes headers of any size into memory, and what its filters hold
back differs from one release of Python to the next. A test holds that no other module reads a tar with it.
"""
