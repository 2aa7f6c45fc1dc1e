# SPDX-License-Identifier: MIT
"""What `make check` did: how long each step and the slowest tests took, and the verdicts.

summary.py [--so-far] TIMES BUILD... GUESTS.json...: TIMES is what tests/step wrote, BUILD a build
directory with Meson's log of the latest run, GUESTS.json what `ferry-lab test --json` wrote.
With --so-far, some of them may not be there yet.
"""

import json
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

VERDICTS = {"OK": "passed", "EXPECTEDFAIL": "passed", "SKIP": "skipped"}  # others failed
SLOWEST = 15
TAIL = 12  # lines of a failed test's output: a CI log keeps its end, and may keep no more

Test = tuple[float, str, str, str]  # seconds, name, verdict, output


def log_of(source: Path) -> Path:
    return source if source.suffix == ".json" else source / "meson-logs" / "testlog.json"


def meson_tests(build: Path) -> Iterator[Test]:
    for line in log_of(build).read_text().splitlines():
        test = json.loads(line)
        verdict = VERDICTS.get(test["result"], "failed")
        name = f"{build.name}: {test['name'].rpartition(' / ')[2]}"
        output = test.get("stdout", "") + test.get("stderr", "")
        yield test["duration"], name, verdict, output


def guest_tests(record: Path) -> Iterator[Test]:
    for test in json.loads(record.read_text()):
        again = f" ({test['starved']})" if test["starved"] else ""
        yield test["seconds"], f"{test['target']}: {test['test']}{again}", test["verdict"], ""


def duration(seconds: float) -> str:
    return f"{int(seconds) // 60:4} min {int(seconds) % 60:2} s"


def main() -> int:
    so_far = sys.argv[1] == "--so-far"
    times, *sources = (Path(argument) for argument in sys.argv[1 + so_far :])
    tests: list[Test] = []
    for source in sources:
        if so_far and not log_of(source).exists():
            continue
        tests += guest_tests(source) if source.suffix == ".json" else meson_tests(source)
    text = "" if so_far and not times.exists() else times.read_text()
    steps = [line.split("\t") for line in text.splitlines()]
    print("\nWhat took how long:")
    for seconds, name in steps:
        print(f"{duration(float(seconds))}  {name}")
    print(f"{duration(sum(float(seconds) for seconds, _ in steps))}  together")
    print("\nThe slowest tests:")
    for took, name, _, _ in sorted(tests, reverse=True)[:SLOWEST]:
        print(f"{duration(took)}  {name}")
    failed = sorted((name, output) for _, name, verdict, output in tests if verdict == "failed")
    if failed:
        print("\nFailed:")
    for name, output in failed:
        print(f"  {name}", *output.splitlines()[-TAIL:], sep="\n    ")
    counts = Counter(verdict for _, _, verdict, _ in tests)
    words = ", ".join(f"{counts[verdict]} {verdict}" for verdict in ("passed", "failed", "skipped"))
    print(f"\n{words}")
    return 1 if counts["failed"] or not counts["passed"] else 0


if __name__ == "__main__":
    sys.exit(main())
