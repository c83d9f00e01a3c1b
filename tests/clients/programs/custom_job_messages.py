"""The SDK's own message for each document in stdin: the document as the service would send it, or null."""

import json
import sys
from typing import Any

from google.cloud.aiplatform_v1.types import CustomJob
from google.protobuf import json_format


def read(document: dict[str, Any]) -> Any:
    try:
        return json_format.MessageToDict(json_format.ParseDict(document, CustomJob.pb(CustomJob())))
    except (json_format.ParseError, SystemError):  # the second for a list of numbers in place of a structure
        return None


print(json.dumps([read(document) for document in json.load(sys.stdin)]))
