"""Read a job with the vendor's client, built from its own discovery document: METHOD of SERVICE answers with stdin."""

import json
import sys

from googleapiclient.discovery import build
from googleapiclient.http import HttpMockSequence

service, *steps, name = sys.argv[1:]
answer = sys.stdin.read()
http = HttpMockSequence([({"status": "200"}, answer)])
resource = build(service, "v1", http=http, static_discovery=True)
for step in steps:
    resource = getattr(resource, step)()
print(json.dumps(resource.get(name=name).execute(num_retries=0)))
