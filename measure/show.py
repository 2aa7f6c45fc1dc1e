# SPDX-License-Identifier: MIT
"""The tour that `make run` gives: a few benches, and their meaning in a few sentences.

Usage: show.py [BUILD]

Leaves the documents, conclusion.json, the page and what the benches printed (run.log) in
BUILD/results.  A bench that cannot run here is a sentence.
"""

import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

SOURCE = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(SOURCE))
from report.conclusion import as_json, as_text, read_conclusion  # noqa: E402
from report.files import CONCLUSION, BadInput  # noqa: E402

# Each bench with settings that keep all of them below two minutes, and with enough pairs for a
# verdict.
RUNS = {
    "crossing": [],
    "batch": ["--call", "write,statx"],
    "files": ["--app", "stat,read,walk,du", "--pairs", "13"],
    "pagefault": ["--memory", "256"],
    "flexsc": ["--call", "write", "--threads", "8,64", "--runners", "1", "--trials", "7"],
    "threads": ["--app", "echo,java", "--threads", "64", "--pairs", "9", "--calls", "8000"],
}


def measure(command: list[str], log: Path) -> str:
    """Runs COMMAND, whose output goes to the end of LOG; why it failed, or nothing."""
    with log.open("a+") as out:
        out.write(f"\n== {' '.join(command)}\n")
        out.flush()
        start = out.tell()
        status = subprocess.run(command, stdout=out, stderr=out, check=False).returncode
        out.seek(start)
        lines = [line.strip() for line in out if line.strip()]
    if status in (130, -signal.SIGINT):
        raise KeyboardInterrupt
    return (lines or [f"exit status {status}"])[-1] if status else ""


def measure_all(ferry: Path, directory: Path, log: Path) -> dict[str, str]:
    """Leaves a document of each bench in DIRECTORY; returns why others have none."""
    failed = {}
    for bench, options in RUNS.items():
        began = time.monotonic()
        document = directory / f"{bench}.json"
        print(f"{' '.join(['ferry bench', bench, *options])} ... ", end="", flush=True)
        if why := measure([str(ferry), "bench", bench, *options, "--json", str(document)], log):
            failed[bench] = why
            document.unlink(missing_ok=True)
        print("not measured" if why else f"{time.monotonic() - began:.0f} s", flush=True)
    return failed


def publish(directory: Path, results: Path) -> None:
    """Moves the documents of this run to RESULTS, in place of an earlier run's."""
    for name in [*(f"{bench}.json" for bench in RUNS), CONCLUSION]:
        if (directory / name).exists():
            os.replace(directory / name, results / name)
        else:
            (results / name).unlink(missing_ok=True)


def show(build: Path) -> None:
    ferry, results = build / "cli" / "ferry", build / "results"
    if not ferry.exists():
        sys.exit(f"show: {ferry} is not there; 'make build' makes it")
    results.mkdir(exist_ok=True)
    log = results / "run.log"
    log.unlink(missing_ok=True)
    with tempfile.TemporaryDirectory(dir=build, prefix="results.") as name:
        failed = measure_all(ferry, Path(name), log)
        lines = read_conclusion(Path(name), failed)
        (Path(name) / CONCLUSION).write_text(as_json(lines))
        publish(Path(name), results)
    why = measure([str(ferry), "report", str(results)], log)
    page = f"no page: {why}" if why else f"the page: {results / 'report.html'}"
    print(f"The tables: {log}; {page}\n")
    print("\n".join(as_text(lines)))


if __name__ == "__main__":
    try:
        show(Path(sys.argv[1] if len(sys.argv) > 1 else "build"))
    except KeyboardInterrupt:
        print("\nshow: interrupted; earlier results are as they were", file=sys.stderr)
        sys.exit(130)
    except (BadInput, OSError) as error:
        sys.exit(f"show: {error}")
