# SPDX-License-Identifier: MIT
"""Made-up runs in the format of ferry-bench(5).  No figure here was measured anywhere."""

from collections.abc import Sequence
from random import Random
from statistics import median, stdev
from typing import Any

Json = dict[str, Any]

SIZES = [1, 4, 16, 64, 256, 1024]
LATENCIES = {  # ns, and the share beyond the crossing where the call crosses
    "function": (1.31, None),
    "clock_gettime_vdso": (24.6, None),
    "gettimeofday_trap": (148.0, 0.4),
    "unimplemented": (88.0, 0.0),
    "write": (152.0, 0.42),
    "stat": (612.0, 0.85),
    "open_close": (1341.0, 0.93),
}
SLOTS = {"function": 1.3, "plain": 6.9, "jumps": 7.4, "forwarding": 8.8}
LINES = {  # ns per batch and per slot of each engine
    "unimplemented": {"loop": (12.0, 91.0), "uring": (15.0, 92.0)},
    "write": {"loop": (14.0, 152.0), "uring": (760.0, 86.0)},
}
CHAINS = {  # ns of each chain on each engine
    "openat fstat mmap close": {"loop": 2210.0, "syscall": 1650.0, "raw": 2190.0},
    "openat read close": {"loop": 1420.0, "syscall": 1010.0, "raw": 1400.0, "uring": 1310.0},
}
RATIOS = [  # app, side, against, what the ratio is about
    ("total", "syscall", "loop", 1.01),
    ("total", "loop", "cat", 3.4),
    ("mdu", "loop", "du", 1.24),
    ("rw", "syscall", "loop", 0.83),
    ("sigset", "loop", "sh", 1.9),
]
WORKS = [0, 100, 200, 2000]
THREADS = [1, 64, 512]
FAULT_SIZES = [4, 64, 512]
REGION, PAGE = 16384, 4096  # pages, bytes


def common(bench: str, started: str) -> Json:
    return {
        "schema": "ferry-bench",
        "version": 2,
        "bench": bench,
        "command": ["ferry", "bench", bench, "--json"],
        "ferry": "0.1.0",
        "unit": "ns",
        "started": started,
        "seconds": 21.5,
        "complete": True,
        "machine": {
            "cpu": "Made-up CPU 9000",
            "architecture": "x86_64",
            "cpus": 2,
            "cpu_pinned": 1,
            "smt": False,
            "virtual_machine": True,
            "governor": None,
            "load": 0.4,
            "others": 0.013,
        },
        "kernel": {"release": "9.9.9-sample", "version": "#1 SMP made up for a test"},
        "mitigations": {"spectre_v2": "Enhanced / Automatic IBRS; PBRSB-eIBRS: SW sequence"},
        "clock": {
            "name": "CLOCK_MONOTONIC",
            "source": "kvm-clock",
            "resolution_ns": 1.0,
            "overhead_ns": 25.1,
            "tsc_hz": 2.0e9,
        },
        "settings": {"cpu": None, "warmup": 100, "trials": 10, "seed": 1},
        "warnings": [{"id": "virtual-machine", "text": "This is a virtual machine."}],
        "findings": [{"about": None, "text": f"A finding about {bench}."}],
        "figures": [],
        "tables": tables(bench),
    }


def tables(bench: str) -> list[Json]:
    """Two, of which the second has no row."""
    columns = [{"heading": "WAY", "text": True}, {"heading": "NS", "text": False}]
    columns.append({"heading": "WHY", "text": True})
    empty: Json = {"rows": [], "missing": [f"no {bench}: not here."], "note": None}
    return [
        {
            "title": f"What {bench} takes, in ns",
            "columns": columns,
            "rows": [[f"slow {bench}", "31.4", "far"], [f"fast {bench}", "-", "near"]],
            "missing": [f"no {bench}: not here.", f"other {bench}: not here either."],
            "note": "NS: made up.",
        },
        empty | {"title": f"More of {bench}", "columns": columns},
    ]


def noisy(random: Random, value: float, count: int, noise: float = 0.01) -> list[float]:
    """VALUE with noise that only adds, as interruptions do."""
    return [value * (1 + noise * random.gammavariate(1.5, 1)) for _ in range(count)]


def measurement(name: str, trials: Sequence[float]) -> Json:
    many = len(trials) > 1
    return {
        "name": name,
        "available": True,
        "reason": None,
        "trials_ns": list(trials),
        "median": median(trials),
        "se": stdev(trials) / 3 if many else None,
    }


def absent(name: str, label: str, reason: str, **more: object) -> Json:
    return {"name": name, "label": label, "available": False, "reason": reason} | more


def rows(bench: str, started: str, times: Json, trials: int, scale: float = 1) -> Json:
    random = Random(scale)
    found = [
        measurement(name, noisy(random, scale * ns, trials))
        | {"label": name.replace("_", " "), "kernel_share": share}
        for name, (ns, share) in times.items()
    ]
    found.append(absent("kstats", "kstats (ferry)", "this kernel lacks the call"))
    run = common(bench, started) | {"rows": found}
    run["figures"] = [
        {"what": row["name"], "unit": "ns", "value": row["median"], "se": row["se"]}
        for row in found
        if row["available"]
    ]
    return run


def crossing(started: str = "2001-02-03T04:05:06Z", trials: int = 10, scale: float = 1) -> Json:
    return rows("crossing", started, LATENCIES, trials, scale)


def dispatch(started: str = "2001-02-03T04:06:06Z") -> Json:
    return rows("dispatch", started, {name: (ns, None) for name, ns in SLOTS.items()}, 10)


def chain(started: str = "2001-02-03T04:06:36Z", trials: int = 10) -> Json:
    random = Random(8)
    found = []
    for calls, engines in CHAINS.items():
        for engine, ns in engines.items():
            row = measurement(f"{calls}, {engine}", noisy(random, ns, trials))
            found.append(row | {"chain": calls, "engine": engine})
        words: Json = {"chain": calls, "engine": "device"}
        found.append(absent(f"{calls}, device", "", "there is no /dev/ferry", **words))
    run = common("chain", started) | {"chains": found}
    run["findings"] += [{"about": calls, "text": f"A finding about {calls}."} for calls in CHAINS]
    return run


def series(random: Random, call: str, engine: str, trials: int) -> Json:
    a, b = LINES[call][engine]
    times = [[noisy(random, a + b * size, 1)[0] for size in SIZES] for _ in range(trials)]
    line = [a + b * size for size in SIZES]
    fit: Json = {"line_ns": line}
    fit |= {"low_ns": [0.9 * ns for ns in line], "high_ns": [1.1 * ns for ns in line]}
    return {
        "engine": engine,
        "call": call,
        "label": f"{call} of nothing much",
        "sizes": SIZES,
        "body": 1,
        "trials_ns": times,
        "least_ns": [min(trial[s] for trial in times) for s in range(len(SIZES))],
        "fit": fit if trials > 1 else None,
    }


def ratio(call: str, engine: str, against: str) -> Json:
    value = LINES[call][against][1] / LINES[call][engine][1]
    return {
        "call": call,
        "engine": engine,
        "against": against,
        "ratio": value,
        "se": 0.0234,
        "low": value - 0.05,
        "high": value + 0.05,
        "significant": False,
    }


def batch(
    started: str = "2001-02-03T04:07:06Z", calls: Sequence[str] = tuple(LINES), trials: int = 12
) -> Json:
    random = Random(3)
    run = common("batch", started)
    run["series"] = [
        series(random, call, engine, trials) for call in calls for engine in LINES[call]
    ]
    run["ratios"] = [ratio(call, "uring", "loop") for call in calls if trials > 1]
    run["findings"] += [{"about": call, "text": f"A finding about {call}."} for call in calls]
    return run


def comparison(random: Random, app: str, side: str, against: str, about: float, n: int) -> Json:
    own, other = noisy(random, 2.1e7, n, 0.02), noisy(random, 2.1e7 * about, n, 0.02)
    ratios = sorted(two / one for one, two in zip(own, other, strict=True))
    enough = n >= 6
    return {
        "app": app,
        "side": side,
        "against": against,
        "what": f"{app} does the same work on both sides",
        "available": True,
        "reason": None,
        "commands": [[app, "--engine", side], [against, "some file"]],
        "pairs_ns": [list(pair) for pair in zip(own, other, strict=True)],
        "ratios": ratios,
        "ratio": {
            "median": median(ratios),
            "low": ratios[1] if enough else None,
            "high": ratios[-2] if enough else None,
        },
        "significant": False,
    }


def apps(started: str = "2001-02-03T04:08:06Z", pairs: int = 11) -> Json:
    random = Random(4)
    missing = {"app": "mdu", "side": "device", "against": "loop", "available": False}
    return common("apps", started) | {
        "comparisons": [
            *(comparison(random, *each, pairs) for each in RATIOS),
            missing | {"what": "the same", "reason": "there is no /dev/ferry"},
        ]
    }


def files() -> Json:
    random = Random(5)
    of_python = {"app": "python", "side": "ferry", "against": "plain calls", "what": ""}
    return common("files", "2001-02-03T04:08:36Z") | {
        "comparisons": [
            comparison(random, "stat", "ferry_statx_many", "statx", 2.5, 11),
            of_python | {"available": False, "reason": "python3 is not installed"},
        ]
    }


def threads() -> Json:
    random = Random(8)
    of_java = {"app": "java", "side": "carried, 64 of 64", "against": "plain", "what": ""}
    return common("threads", "2001-02-03T04:11:06Z") | {
        "comparisons": [
            comparison(random, "echo", "carried, 64 of 64", "plain", 1.3, 11)
            | {"requests_per_s": [130000.0, 100000.0], "p99_ns": [1e6, 2e6]},
            of_java | {"available": False, "reason": "java is not installed"},
        ]
    }


def cell(call: str, way: str, work: int, trials: Sequence[float], base: Sequence[float]) -> Json:
    """One of flexsc has its threads and runners behind WAY."""
    kind, *numbers = way.split()
    threads, runners = map(int, numbers) if numbers else (None, None)
    ratios = [one / other for one, other in zip(base, trials, strict=True)]
    now = median(trials)
    return measurement(f"{call} {way} W{work}", trials) | {
        "call": call,
        "way": kind,
        "threads": threads,
        "runners": runners,
        "work_ns": float(work),
        "ratios": ratios,
        "ratio": median(ratios),
        "significant": False,
        "caller_cpu_ns": now,
        "other_cpu_ns": 0.8 * now if numbers or way == "sqpoll" else 0.0,
    }


def flexsc(
    started: str = "2001-02-03T04:10:06Z", trials: int = 5, works: Sequence[int] = tuple(WORKS)
) -> Json:
    """With one runner and 64 threads it wins at W of 100 and 200 ns."""
    random = Random(6)
    gains = {"plain": 1.0, "batch": 1.05, "uring": 0.97, "sqpoll": 0.5}
    cells: list[Json] = []
    for work in works:
        of_work = {0: 0.6, 100: 1.4, 200: 1.6, 2000: 0.8}[work]
        for runners in (1, 2):
            for threads, gain in zip(THREADS, (0.3, 1.0, 0.8), strict=True):
                gains[f"flexsc {threads} {runners}"] = gain * of_work / runners
        base = noisy(random, 100.0 + work, trials)
        for way, gain in gains.items():
            times = base if way == "plain" else noisy(random, (100.0 + work) / gain, trials, 0.001)
            cells.append(cell("write", way, work, times, base))
        missing: Json = {"call": "getpid", "way": "uring", "threads": None, "runners": None}
        cells.append(absent("getpid uring", "", "no such request", work_ns=work, **missing))
    run = common("flexsc", started) | {"cells": cells}
    run["findings"].append({"about": "write", "text": "A finding about write."})
    return run


def touch(order: str, way: str, trials: Sequence[float], pages: float, size: int = 0) -> Json:
    """PAGES are mapped for each that is touched."""
    labels = {"base": "a fault a page", "ahead": f"{size} pages a fault"}
    touched = REGION / 64 if order == "one_in_64" else REGION
    access = "read" if order == "read" else "write"
    return measurement(f"{access} {order} {way} {size}", trials) | {
        "label": labels.get(way, way.replace("_", " ")),
        "access": access,
        "order": "sequential" if order == "read" else order,
        "way": way,
        "per_fault": size or None,
        "large_page": 2 << 20 if way == "large_pages" else None,
        "touched": touched,
        "ratio": 1.0,
        "significant": False,
        "resident_bytes": 0.0 if access == "read" else touched * pages * PAGE,
    }


def pagefault(started: str = "2001-02-03T04:09:06Z", ahead: bool = True, trials: int = 6) -> Json:
    random = Random(5)
    touches: list[Json] = []
    for order in ("sequential", "random", "one_in_64", "read"):
        spread = 64 if order == "one_in_64" else 1
        for way, ns in {"base": 900.0, "populate": 520.0, "large_pages": 210.0}.items():
            mapped = 1 if way == "base" else spread
            touches.append(touch(order, way, noisy(random, ns * mapped, trials), mapped))
        for size in FAULT_SIZES if ahead else []:
            times = noisy(random, 150.0 * min(size, spread) + 750.0 / size, trials)
            touches.append(touch(order, "ahead", times, min(size, spread), size))
    more: Json = {"access": "write", "order": "sequential", "per_fault": None, "large_page": None}
    touches.append(absent("map", "MAP_POPULATE", "set to never", way="map_populate", **more))
    run = common("pagefault", started)
    run["findings"] += [
        {"about": order, "text": f"A finding about {order}."}
        for order in ("sequential", "one_in_64")
    ]
    return run | {"memory_bytes": REGION * PAGE, "page_bytes": PAGE, "touches": touches}


def all_benches() -> dict[str, Json]:
    return {
        "crossing": crossing(),
        "batch": batch(),
        "dispatch": dispatch(),
        "chain": chain(),
        "apps": apps(),
        "files": files(),
        "flexsc": flexsc(),
        "pagefault": pagefault(),
        "threads": threads(),
    }
