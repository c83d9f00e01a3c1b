"""Evaluate many rules in one process, because smdebug takes a second to load.

`evaluate_all.py CONFIGURATIONS.json OUTCOMES.json`
"""

import json
import os
import sys
from pathlib import Path

os.environ["SMDEBUG_TRAINING_END_DELAY_REFRESH"] = "0"  # it waits for a second after the end of each run

from smlocal_rules.configuration import Configuration
from smlocal_rules.evaluate import evaluate

if __name__ == "__main__":
    outcomes = {}
    for name, document in json.loads(Path(sys.argv[1]).read_text(encoding="utf-8")).items():
        path = Path(sys.argv[1]).with_name("rule.json")
        path.write_text(json.dumps(document), encoding="utf-8")
        outcomes[name] = evaluate(Configuration.read(str(path))).document()
    Path(sys.argv[2]).write_text(json.dumps(outcomes), encoding="utf-8")
