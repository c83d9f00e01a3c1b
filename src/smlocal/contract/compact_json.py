"""JSON as services write it."""

import json
from typing import Any


def compact(document: Any) -> bytes:
    """JSON without spaces and without escapes for letters."""
    return json.dumps(document, separators=(",", ":"), ensure_ascii=False).encode("utf-8", errors="surrogatepass")
