"""Archives that somebody else has made, read as they come, with limits, and unpacked without following links.

The standard library's `tarfile` reads none of them: it takes headers of any size into memory, and its filters hold back
different members from one release of Python to the next. A test holds that no other module reads a tar with it.
"""
