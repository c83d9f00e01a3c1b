import subprocess
import sys


def test_the_engine_brings_no_heavy_module_along() -> None:
    heavy = "({'docker', 'boto3', 'http.client', 'requests', 'urllib3', 'ssl', 'subprocess', 'hashlib', 'asyncio'}"
    heavy += " | {'urllib.parse', 'pydantic', 'tempfile', 'shutil', 'smlocal.engine.pull', 'email'})"
    code = f"""
import sys
base = set(sys.modules)
import smlocal.engine.engines as engines
engines.connect()
print(sorted({heavy} & (set(sys.modules) - base)))
"""
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ended.stdout == "[]\n"
