# SPDX-License-Identifier: MIT
"""Writes what a comparison needs of documents of ferry bench, which is a hundredth of them.

Usage: keep.py FROM TO

FROM and TO are directories.  Each document of FROM is written to TO without its trials: with the
machine, the settings, the warnings, the findings and the figures with their errors.
"""

import json
import sys
from pathlib import Path

KEPT = [
    "schema",
    "version",
    "bench",
    "command",
    "ferry",
    "unit",
    "started",
    "seconds",
    "complete",
    "withheld",
    "machine",
    "kernel",
    "mitigations",
    "clock",
    "settings",
    "warnings",
    "findings",
    "figures",
]


def as_text(document: dict[str, object]) -> str:
    """JSON with a line for each member, and for each object of a list."""
    members = []
    for name in KEPT:
        if name not in document:
            continue
        value = document[name]
        text = json.dumps(value)
        if isinstance(value, list) and value and isinstance(value[0], dict):
            text = "[\n    " + ",\n    ".join(map(json.dumps, value)) + "\n  ]"
        members.append(f"  {json.dumps(name)}: {text}")
    return "{\n" + ",\n".join(members) + "\n}\n"


def keep(source: Path, target: Path) -> None:
    target.mkdir(parents=True, exist_ok=True)
    for path in sorted(source.glob("*.json")):
        document = json.loads(path.read_bytes())
        if isinstance(document, dict) and document.get("schema") == "ferry-bench":
            (target / path.name).write_text(as_text(document))


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    keep(Path(sys.argv[1]), Path(sys.argv[2]))
