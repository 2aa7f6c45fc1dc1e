# SPDX-License-Identifier: MIT
"""Made-up runs in the format of ferry-bench(5).  No figure here was measured anywhere."""

import math
from collections.abc import Sequence
from statistics import mean, median, stdev
from typing import Any

import numpy as np
from numpy.typing import NDArray

Json = dict[str, Any]
Floats = NDArray[np.float64]

SIZES = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024]
LATENCIES = {  # made up: ns, and whether the call crosses into the kernel
    "function": (1.31, False),
    "clock_gettime_vdso": (24.6, False),
    "gettimeofday_vdso": (25.2, False),
    "gettimeofday_trap": (148.0, True),
    "getpid_libc": (96.0, True),
    "getpid_raw": (94.0, True),
    "unimplemented": (88.0, True),
    "read": (171.0, True),
    "write": (152.0, True),
    "stat": (612.0, True),
    "fstat": (231.0, True),
    "open_close": (1341.0, True),
}
LABELS = {
    "function": "empty function",
    "clock_gettime_vdso": "clock_gettime, vDSO",
    "gettimeofday_vdso": "gettimeofday, vDSO",
    "gettimeofday_trap": "gettimeofday, trap",
    "getpid_libc": "getpid, libc",
    "getpid_raw": "getpid, raw",
    "unimplemented": "unimplemented call",
    "read": "read, 1 byte",
    "write": "write, 1 byte",
    "open_close": "open and close",
}
SLOTS = {
    "function": 1.3,
    "plain": 6.9,
    "jumps": 7.4,
    "forwarding": 8.8,
    "word_copy": 7.1,
    "go_to": 5.2,
}
LINES = {  # made up: ns per batch and per slot of each engine
    "unimplemented": {"loop": (12.0, 91.0), "uring": (15.0, 92.0)},
    "write": {"loop": (14.0, 152.0), "uring": (760.0, 86.0)},
    "statx": {"loop": (15.0, 640.0), "uring": (1900.0, 1120.0)},
}
RATIOS = [  # made up: app, side, against, what the ratio is about
    ("total", "uring", "loop", 1.01),
    ("total", "loop", "cat", 3.4),
    ("mdu", "auto", "loop", 1.0),
    ("mdu", "loop", "du", 1.24),
    ("rw", "uring", "loop", 0.83),
    ("rw", "loop", "cat", 0.97),
    ("pathsearch", "loop", "sh", 2.1),
    ("sigset", "loop", "sh", 1.9),
]


def common(bench: str, started: str) -> Json:
    return {
        "schema": "ferry-bench",
        "version": 2,
        "bench": bench,
        "command": ["ferry", "bench", bench, "--json"],
        "ferry": "0.1.0",
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
        "mitigations": {
            "spectre_v1": "usercopy/swapgs barriers and __user pointer sanitization",
            "spectre_v2": "Enhanced / Automatic IBRS; IBPB: conditional; PBRSB-eIBRS: SW sequence",
        },
        "clock": {
            "name": "CLOCK_MONOTONIC",
            "source": "kvm-clock",
            "resolution_ns": 1.0,
            "overhead_ns": 25.1,
            "tsc_hz": 2.0e9,
        },
        "settings": {"cpu": None, "warmup": 100, "trials": 10, "seed": 1, "resamples": 1000},
        "warnings": [
            {
                "id": "virtual-machine",
                "text": "This is a virtual machine: its clock and its CPU may stand still.",
            }
        ],
        "findings": [{"about": None, "text": "A finding of the sample."}],
    }


def noisy(random: np.random.Generator, value: float, count: int, noise: float) -> list[float]:
    """VALUE with noise that only adds, as interruptions do."""
    factors = 1 + noise * random.gamma(1.5, 1.0, count)
    if count > 4:
        factors[count // 3] *= 1 + 8 * noise
    return [float(each) for each in value * factors]


def row(name: str, label: str, trials: Sequence[float], share: float | None) -> Json:
    return {
        "name": name,
        "label": label,
        "available": True,
        "reason": None,
        "calls": 100_000,
        "trials_ns": list(trials),
        "mean": mean(trials),
        "min": min(trials),
        "max": max(trials),
        "sd": stdev(trials) if len(trials) > 1 else 0.0,
        "median": median(trials),
        "se": 1.25 * stdev(trials) / math.sqrt(len(trials)) if len(trials) > 3 else None,
        "cycles": 2 * median(trials),
        "ratio": median(trials) / 1.4,
        "kernel_share": share,
    }


def missing_row(name: str) -> Json:
    return {
        "name": name,
        "label": f"{name} (ferry)",
        "available": False,
        "reason": "this kernel does not have the call",
    }


def crossing(
    seed: int = 1, started: str = "2001-02-03T04:05:06Z", trials: int = 10, scale: float = 1.0
) -> Json:
    random = np.random.default_rng(seed)
    floor = LATENCIES["unimplemented"][0]
    rows = [
        row(
            name,
            LABELS.get(name, name),
            noisy(random, scale * ns, trials, 0.006),
            max(0.0, 1 - floor / ns) if crosses else None,
        )
        for name, (ns, crosses) in LATENCIES.items()
    ]
    rows[7:7] = [missing_row("null"), missing_row("kstats")]
    return common("crossing", started) | {"loop_ns": 0.4, "rows": rows}


def dispatch(seed: int = 2, started: str = "2001-02-03T04:06:06Z") -> Json:
    random = np.random.default_rng(seed)
    rows = [
        row(name, name.replace("_", " "), noisy(random, ns, 10, 0.004), None)
        for name, ns in SLOTS.items()
    ]
    return common("dispatch", started) | {"rows": rows}


def line(sizes: Sequence[int], times: Floats) -> tuple[float, float]:
    b, a = np.polyfit(sizes, times, 1, w=1 / times)
    return float(a), float(b)


def fit(random: np.random.Generator, sizes: Sequence[int], trials: Floats) -> Json:
    least = trials.min(axis=0)
    a, b = line(sizes, least)
    drawn = np.array(
        [
            line(sizes, trials[random.integers(0, len(trials), len(trials))].min(axis=0))
            for _ in range(400)
        ]
    )
    errors = 1.2 * drawn.std(axis=0, ddof=1)
    return {
        "a_ns": a,
        "b_ns": b,
        "a_se": float(errors[0]),
        "b_se": float(errors[1]),
        "correlation": float(np.corrcoef(drawn.T)[0, 1]),
        "misfit": float(np.sqrt(np.mean((least / (a + b * np.asarray(sizes)) - 1) ** 2))),
    }


def series(random: np.random.Generator, call: str, engine: str, trials: int) -> Json:
    a, b = LINES[call][engine]
    times = np.array([noisy(random, a + b * size, trials, 0.01) for size in SIZES]).T
    return {
        "engine": engine,
        "call": call,
        "label": f"{call} of nothing much",
        "sizes": SIZES,
        "body": 1,
        "trials_ns": times.tolist(),
        "fit": fit(random, SIZES, times) if trials > 1 else None,
    }


def ratio(own: Json, other: Json) -> Json:
    mine, base = own["fit"], other["fit"]
    value = base["b_ns"] / mine["b_ns"]
    error = value * math.hypot(base["b_se"] / base["b_ns"], mine["b_se"] / mine["b_ns"])
    gain = base["b_ns"] - mine["b_ns"]
    faster: list[int] = []  # sizes from which on own is the faster one, largest first
    least = (np.min(one["trials_ns"], axis=0) for one in (own, other))
    for size, one, two in reversed(list(zip(SIZES, *least, strict=True))):
        if one >= two:
            break
        faster.append(size)
    return {
        "call": own["call"],
        "engine": own["engine"],
        "against": other["engine"],
        "ratio": value,
        "se": error,
        "significant": abs(value - 1) > 1.96 * error,
        "break_even": (mine["a_ns"] - base["a_ns"]) / gain if gain > 0 else None,
        "break_even_se": 0.4 if gain > 0 else None,
        "first_faster": faster[-1] if faster else None,
        "at_largest": other["trials_ns"][0][-1] / own["trials_ns"][0][-1],
    }


def batch(
    seed: int = 3,
    started: str = "2001-02-03T04:07:06Z",
    calls: Sequence[str] = tuple(LINES),
    trials: int = 12,
) -> Json:
    random = np.random.default_rng(seed)
    made = [[series(random, call, engine, trials) for engine in LINES[call]] for call in calls]
    return common("batch", started) | {
        "series": [one for group in made for one in group],
        "ratios": [ratio(group[1], group[0]) for group in made if trials > 1],
    }


def comparison(
    random: np.random.Generator, app: str, side: str, against: str, about: float, pairs: int
) -> Json:
    own = noisy(random, 2.1e7, pairs, 0.02)
    other = noisy(random, 2.1e7 * about, pairs, 0.02)
    ratios = sorted(two / one for one, two in zip(own, other, strict=True))
    rank = {11: 2, 21: 6}.get(pairs)  # of the ends of a 95 % interval for a median
    ends = (ratios[rank - 1], ratios[-rank]) if rank else None
    return {
        "app": app,
        "side": side,
        "against": against,
        "what": f"{app} does the same work on both sides",
        "available": True,
        "reason": None,
        "commands": [[app, "--engine", side], [against, "some file"]],
        "pairs_ns": [list(pair) for pair in zip(own, other, strict=True)],
        "median_ns": [median(own), median(other)],
        "ratio": {
            "median": median(ratios),
            "low": ends[0] if ends else None,
            "high": ends[1] if ends else None,
            "confidence": 0.96 if rank else None,
            "quartile_low": float(np.percentile(ratios, 25)),
            "quartile_high": float(np.percentile(ratios, 75)),
        },
        "significant": ends is not None and not ends[0] <= 1 <= ends[1],
        "equal": None if app == "sigset" else True,
    }


def apps(seed: int = 4, started: str = "2001-02-03T04:08:06Z", pairs: int = 11) -> Json:
    random = np.random.default_rng(seed)
    comparisons: list[Json] = [
        comparison(random, app, side, against, about, pairs) for app, side, against, about in RATIOS
    ]
    comparisons.append(
        {
            "app": "mdu",
            "side": "device",
            "against": "loop",
            "what": "mdu does the same work on both sides",
            "available": False,
            "reason": "there is no /dev/ferry",
        }
    )
    return common("apps", started) | {"comparisons": comparisons}


FLEXSC_WORKS = [0, 100, 200, 2000]
FLEXSC_THREADS = [1, 64, 512]
WAY_GAINS = {"plain": 1.0, "batch": 1.05, "uring": 0.97, "sqpoll": 0.5}  # made up
THREAD_GAINS = {1: 0.3, 64: 1.0, 512: 0.8}  # made up; with one runner, beside 64 threads
WORK_GAINS = {0: 0.6, 100: 1.4, 200: 1.6, 2000: 0.8}  # made up: breaks even at 50 and 1550


def cell(call: str, way: str, work: int, trials: Sequence[float], base: Sequence[float]) -> Json:
    """One of flexsc has its threads and runners behind WAY."""
    kind, *numbers = way.split()
    threads, runners = map(int, numbers) if numbers else (None, None)
    ratio = median([one / other for one, other in zip(base, trials, strict=True)])
    now = median(trials)
    return {
        "name": f"{call} {way} W{work}",
        "call": call,
        "way": kind,
        "threads": threads,
        "runners": runners,
        "work_ns": float(work),
        "available": True,
        "reason": None,
        "calls": 5000,
        "trials_ns": list(trials),
        "mean": mean(trials),
        "min": min(trials),
        "max": max(trials),
        "sd": stdev(trials) if len(trials) > 1 else 0.0,
        "median": now,
        "se": 1.0 if len(trials) > 1 else None,
        "ratio": ratio,
        "ratio_se": 0.02 if len(trials) > 1 else None,
        "significant": abs(ratio - 1) > 0.04,
        "caller_cpu_ns": now,
        "other_cpu_ns": 0.8 * now if numbers or way == "sqpoll" else 0.0,
        "latency_ns": {
            "p50": now * (threads or 1),
            "p90": 1.1 * now * (threads or 1),
            "p99": 4 * now * (threads or 1),
            "max": 90 * now * (threads or 1),
        },
        "phases_ns": {"claim": 20.0, "find": 600.0, "run": 100.0, "see": 80.0} if numbers else None,
    }


def cells_of(random: np.random.Generator, call: str, work: int, trials: int) -> list[Json]:
    base = noisy(random, 100.0 + work, trials, 0.01)

    def made(way: str, gain: float) -> Json:
        times = base if way == "plain" else noisy(random, (100.0 + work) / gain, trials, 0.001)
        return cell(call, way, work, times, base)

    found = [made(way, gain) for way, gain in WAY_GAINS.items()]
    for runners in (1, 2):
        for threads in FLEXSC_THREADS:
            gain = WORK_GAINS[work] * THREAD_GAINS[threads] / runners
            found.append(made(f"flexsc {threads} {runners}", gain))
    if call == "getpid":
        absent = {"available": False, "reason": "io_uring has no request for this call"}
        found[2:4] = [
            {name: each[name] for name in ("name", "call", "way", "threads", "runners", "work_ns")}
            | absent
            for each in found[2:4]
        ]
    return found


def flexsc(
    seed: int = 6,
    started: str = "2001-02-03T04:10:06Z",
    calls: Sequence[str] = ("write", "getpid"),
    trials: int = 5,
) -> Json:
    random = np.random.default_rng(seed)
    cells = [
        each
        for call in calls
        for work in FLEXSC_WORKS
        for each in cells_of(random, call, work, trials)
    ]
    return common("flexsc", started) | {"cells": cells}


FAULT_SIZES = [2, 4, 16, 64, 512]
REGION = 16384  # pages
PAGE = 4096
WAYS = {  # made up: ns per page, by the way it comes; the rest is a fault a page
    "base": 900.0,
    "populate": 520.0,
    "map_populate": 540.0,
    "large_pages": 210.0,
    "clear": 150.0,
}
WAY_LABELS = {
    "base": "a fault a page",
    "populate": "MADV_POPULATE",
    "map_populate": "MAP_POPULATE",
    "large_pages": "pages of 2048 KiB",
    "clear": "clearing alone",
}


def touch(
    access: str, order: str, way: str, trials: Sequence[float], base: Sequence[float], pages: float
) -> Json:
    """PAGES is how many are mapped for each that is touched; WAY may have a size behind it."""
    kind, _, size = way.partition(" ")
    touched = REGION / 64 if order == "one_in_64" else REGION
    ratio = median([one / other for one, other in zip(base, trials, strict=True)])
    resident = touched * pages * PAGE if access == "write" else 0.0
    return {
        "name": f"{access} {order} {way}",
        "label": f"{size} pages a fault" if kind == "ahead" else WAY_LABELS[kind],
        "access": access,
        "order": order,
        "way": kind,
        "per_fault": int(size) if kind == "ahead" else None,
        "large_page": 2 << 20 if kind == "large_pages" else None,
        "available": True,
        "reason": None,
        "touched": touched,
        "trials_ns": list(trials),
        "mean": mean(trials),
        "min": min(trials),
        "max": max(trials),
        "sd": stdev(trials) if len(trials) > 1 else 0.0,
        "median": median(trials),
        "se": 2.0,
        "ratio": ratio,
        "ratio_se": 0.01,
        "significant": abs(ratio - 1) > 0.02,
        "later_ns": 31.0,
        "faults": touched,
        "exceptions": None if kind == "populate" else touched,
        "mapped_pages": touched * pages,
        "resident_bytes": resident,
        "wasted_bytes": resident - touched * PAGE if access == "write" else 0.0,
    }


def touches_of(
    random: np.random.Generator, access: str, order: str, ahead: bool, trials: int
) -> list[Json]:
    sparse = order == "one_in_64"
    base = noisy(random, 900.0 if access == "write" else 300.0, trials, 0.01)
    found = [touch(access, order, "base", base, base, 1)]
    for size in FAULT_SIZES if ahead else []:
        pages = min(size, 64) if sparse else 1
        ns = 150.0 * pages + 750.0 / (1 if sparse else size)
        times = noisy(random, ns, trials, 0.01)
        found.append(touch(access, order, f"ahead {size}", times, base, pages))
    for way, ns in WAYS.items():
        if way == "base" or (way in ("map_populate", "clear") and order != "sequential"):
            continue
        times = noisy(random, 64 * ns if sparse else ns, trials, 0.01)
        found.append(touch(access, order, way, times, base, 64 if sparse else 1))
    return found


def pagefault(
    seed: int = 5,
    started: str = "2001-02-03T04:09:06Z",
    ahead: bool = True,
    trials: int = 6,
) -> Json:
    random = np.random.default_rng(seed)
    orders = [("write", "sequential"), ("write", "random"), ("write", "one_in_64")]
    orders.append(("read", "sequential"))
    touches = [
        each
        for access, order in orders
        for each in touches_of(random, access, order, ahead, trials)
    ]
    absent: Json = {"access": "write", "order": "sequential", "per_fault": None, "large_page": None}
    absent |= {"name": "write sequential large_pages 64", "label": "pages of 64 KiB"}
    absent |= {"way": "large_pages", "available": False, "reason": "set to never"}
    no_ahead = absent | {"name": "write sequential ahead", "label": "multi_page_alloc"}
    no_ahead |= {"way": "ahead", "reason": "not on this kernel"}
    return common("pagefault", started) | {
        "memory_bytes": REGION * PAGE,
        "page_bytes": PAGE,
        "touches": [*touches, absent, *([] if ahead else [no_ahead])],
    }


def all_benches() -> dict[str, Json]:
    return {
        "crossing": crossing(),
        "batch": batch(),
        "dispatch": dispatch(),
        "apps": apps(),
        "flexsc": flexsc(),
        "pagefault": pagefault(),
    }
