# SPDX-License-Identifier: MIT
"""The tour that `make run` gives: what is here, what crossings cost, and what batching saves.

Usage: show.py [BUILD]

Prints the tables of every bench, and makes BUILD/results/report.html of them.
"""

import subprocess
import sys
from pathlib import Path

# Each bench with settings that keep all of them well below three minutes.
RUNS = {
    "crossing": [],
    "batch": ["--call", "unimplemented,write,read,statx"],
    "dispatch": [],
    "apps": ["--pairs", "11"],
    "flexsc": ["--call", "write", "--threads", "8,64", "--runners", "1", "--trials", "13"],
    "pagefault": ["--memory", "256"],
}


def run(title: str, *command: str | Path) -> None:
    print(f"\n== {title}\n", flush=True)
    done = subprocess.run(command, check=False)
    if done.returncode:
        sys.exit(done.returncode)


def main() -> None:
    build = Path(sys.argv[1] if len(sys.argv) > 1 else "build")
    ferry, results = build / "cli" / "ferry", build / "results"
    if not ferry.exists():
        sys.exit(f"show: {ferry} is not there; 'make build' makes it")
    results.mkdir(exist_ok=True)
    run("What this machine has (ferry probe)", ferry, "probe")
    for bench, options in RUNS.items():
        words = " ".join(["ferry bench", bench, *options])
        run(words, ferry, "bench", bench, *options, "--json", results / f"{bench}.json")
    run("All of it on one page (ferry report)", ferry, "report", results)
    print(f"Open {results / 'report.html'} in a browser.")


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(130)
