# SPDX-License-Identifier: MIT
"""Prints one line on all tests that the latest runs in the given build directories made."""

import json
import sys
from pathlib import Path

PASSED = {"OK", "EXPECTEDFAIL"}
SKIPPED = {"SKIP"}


def results(build: Path) -> list[str]:
    log = build / "meson-logs" / "testlog.json"
    return [json.loads(line)["result"] for line in log.read_text().splitlines()]


def main() -> int:
    found = [result for build in sys.argv[1:] for result in results(Path(build))]
    passed = sum(result in PASSED for result in found)
    skipped = sum(result in SKIPPED for result in found)
    failed = len(found) - passed - skipped
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
