# SPDX-License-Identifier: MIT
"""ferry bench --against: a run beside an earlier one."""

import json
import math
from pathlib import Path
from typing import Any

import pytest
from conftest import Ferry
from scipy import stats


def scaled(value: Any, factor: float) -> Any:  # noqa: ANN401 (JSON)
    return value * factor if isinstance(value, int | float) else value


@pytest.fixture
def earlier(documents: dict[str, Any], tmp_path: Path) -> Path:
    """A crossing run in which everything took a hundred times as long, with an error of 1 %."""
    document = json.loads(json.dumps(documents["crossing"])) | {"withheld": None}
    for figure in document["figures"]:
        figure["value"] = scaled(figure["value"], 100)
        figure["se"] = scaled(figure["value"], 0.01)
    path = tmp_path / "earlier.json"
    path.write_text(json.dumps(document))
    return path


def test_the_bench_of_the_earlier_run_is_run_again(ferry: Ferry, earlier: Path) -> None:
    done = ferry("--against", earlier, "--trials", "4", "--calls", "300", "--json", "-")
    document = json.loads(done.stdout)
    assert document["bench"] == "crossing"
    assert document["against"]["file"] == str(earlier)
    assert document["against"]["started"] == json.loads(earlier.read_text())["started"]


def test_differences_beyond_all_errors_are_marked(ferry: Ferry, earlier: Path) -> None:
    done = ferry("crossing", "--against", earlier, "--trials", "4", "--calls", "300", "--json", "-")
    against = json.loads(done.stdout)["against"]
    rows, withheld = against["rows"], against["withheld"]  # where something watches this machine
    assert {"function", "stat", "open_close"} <= {row["what"] for row in rows}
    p = []
    for row in rows:
        assert row["unit"] == "ns"
        assert row["ratio"] == pytest.approx(row["now"] / row["before"], rel=1e-6)
        # Equal runs are assumed to scatter by 3 % beyond the errors, which 4 trials each have.
        errors = [row["before_se"] ** 2, row["now_se"] ** 2]
        variance = sum(errors) + 0.03**2 * (row["before"] ** 2 + row["now"] ** 2)
        freedom = max(1, math.floor(3 * variance**2 / sum(error**2 for error in errors)))
        p.append(2 * stats.t.sf(abs(row["now"] - row["before"]) / variance**0.5, freedom))
    # One of all of them may differ by chance with a probability of 5 % at most (Holm).
    least = 0.0
    for i, k in enumerate(sorted(range(len(p)), key=lambda k: p[k])):
        least = max(least, min(1, p[k] * (len(p) - i)))
        assert rows[k]["p"] == pytest.approx(least, rel=1e-4, abs=1e-12)
        assert rows[k]["different"] == (None if withheld else least <= 0.05)
    # A hundred times as long is a difference, however busy the machine is now.
    assert withheld or sum(row["different"] for row in rows) > len(rows) / 2


def test_people_see_both_runs_and_what_was_not_alike(ferry: Ferry, earlier: Path) -> None:
    document = json.loads(earlier.read_text())
    document["machine"]["cpu"] = "Abacus"
    earlier.write_text(json.dumps(document))
    done = ferry("--against", earlier, "--trials", "4", "--calls", "300")
    assert done.returncode == 0
    assert "BEFORE" in done.stdout
    text = " ".join(done.stdout.split())
    if "withheld" not in text:
        assert "figures differ by more than the errors of both allow" in text
        assert "one earlier run cannot show that" in text
    assert 'Not alike: machine.cpu was "Abacus" and is "' in done.stdout
    assert "Not alike: settings.calls was 200 and is 300." in done.stdout


@pytest.mark.parametrize(
    "bench",
    [
        "crossing",
        "batch",
        "dispatch",
        "chain",
        "apps",
        "files",
        "flexsc",
        "pagefault",
        "threads",
    ],
)
def test_every_bench_can_be_compared(
    bench: str,
    ferry: Ferry,
    short: dict[str, list[str]],
    documents: dict[str, Any],
    tmp_path: Path,
) -> None:
    earlier = tmp_path / "earlier.json"
    earlier.write_text(json.dumps(documents[bench]))
    done = ferry(*short[bench], "--against", earlier, "--json", "-")
    rows = json.loads(done.stdout)["against"]["rows"]
    assert len(rows) >= 2
    assert len({row["what"] for row in rows}) == len(rows)
