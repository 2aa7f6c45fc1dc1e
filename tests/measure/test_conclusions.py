# SPDX-License-Identifier: MIT
"""No conclusion within the noise: made-up trials, and what ferry bench concludes from them."""

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

SIZES = [1, 2, 4, 8, 16, 32, 64, 128, 256]
SEED = 20261122
Conclude = Callable[..., Any]


@pytest.fixture(scope="session")
def conclude(build: Path) -> Conclude:
    def ask(bench: str, **request: Any) -> Any:  # noqa: ANN401 (JSON)
        done = subprocess.run(
            [build / "tests" / "measure" / "conclusions"],
            input=json.dumps({"bench": bench} | request),
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        )
        return json.loads(done.stdout)

    return ask


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(SEED)


def findings(document: Any) -> str:  # noqa: ANN401 (JSON)
    return " ".join(finding["text"] for finding in document["findings"])


def batches(rng: np.random.Generator, slot: float, start: float = 100, trials: int = 40) -> Any:  # noqa: ANN401
    times = start + slot * np.array(SIZES)
    return (times * (1 + 0.01 * rng.gamma(1.5, 1, (trials, len(SIZES))))).ravel().tolist()


class TestBatch:
    """Engine against engine, by size."""

    def test_auto_is_never_faster_than_the_engine_that_it_is(
        self, conclude: Conclude, rng: np.random.Generator, build: Path
    ) -> None:
        probe = subprocess.check_output([build / "cli" / "ferry", "probe", "--json"])
        same = json.loads(probe)["auto"]["engine"]
        engines = {same: batches(rng, 100), "auto": batches(rng, 80)}
        document = conclude("batch", sizes=SIZES, engines=engines)
        (ratio,) = document["ratios"]
        assert (ratio["significant"], ratio["first_faster"], ratio["break_even"]) == (
            False,
            None,
            None,
        )
        assert all(each["same_loop"] and not each["significant"] for each in document["at_sizes"])
        assert f"auto and {same} are one engine here" in findings(document)

    def test_a_gain_that_the_noise_made_is_none(
        self, conclude: Conclude, rng: np.random.Generator
    ) -> None:
        engines = {"loop": batches(rng, 100), "device": batches(rng, 100)}
        document = conclude("batch", sizes=SIZES, engines=engines)
        (ratio,) = document["ratios"]
        assert not ratio["significant"]
        assert ratio["first_faster"] is None
        assert "this run cannot tell" in findings(document)
        assert "was faster than" not in findings(document)

    def test_a_gain_beyond_the_noise_is_told_with_its_size(
        self, conclude: Conclude, rng: np.random.Generator
    ) -> None:
        engines = {"loop": batches(rng, 100, 50), "device": batches(rng, 40, 900)}
        document = conclude("batch", sizes=SIZES, engines=engines)
        (ratio,) = document["ratios"]
        # The lines meet at 850 / 60 slots.
        assert ratio["break_even"] == pytest.approx(14.2, rel=0.1)
        assert ratio["first_faster"] == 16
        at = {each["size"]: each for each in document["at_sizes"]}
        assert at[256]["quartile_low"] < at[256]["ratio"] < at[256]["quartile_high"]
        assert at[256]["ratio"] == pytest.approx((50 + 25600) / (900 + 10240), rel=0.02)

    def test_one_size_says_why_there_is_no_line(
        self, conclude: Conclude, rng: np.random.Generator
    ) -> None:
        document = conclude("batch", sizes=[4], engines={"loop": [400.0, 404.0, 401.0]})
        assert "One size gives no line" in findings(document)


class TestCrossing:
    """Shares of the crossing."""

    def rows(self, rng: np.random.Generator, trials: int, **medians: float) -> Any:  # noqa: ANN401
        noise = 1 + 0.01 * rng.standard_normal((len(medians), trials))
        return {
            name: (median * noise[i]).tolist() for i, (name, median) in enumerate(medians.items())
        }

    def test_a_single_trial_has_no_shares_and_no_deviation(
        self, conclude: Conclude, rng: np.random.Generator
    ) -> None:
        rows = self.rows(rng, 1, function=1.5, unimplemented=80, write=80.1, stat=700)
        document = conclude("crossing", calls=100, rows=rows)
        assert all(row["kernel_share"] is None for row in document["rows"])
        assert all(row["sd"] is None and row["se"] is None for row in document["rows"])
        assert "%" not in findings(document)
        assert "takes 4 trials of 1000 calls" in findings(document)

    def test_few_calls_have_no_shares(self, conclude: Conclude, rng: np.random.Generator) -> None:
        rows = self.rows(rng, 10, function=1.5, unimplemented=80, write=150)
        document = conclude("crossing", calls=100, rows=rows)
        assert all(row["kernel_share"] is None for row in document["rows"])

    def test_shares_beyond_the_noise_are_told(
        self, conclude: Conclude, rng: np.random.Generator
    ) -> None:
        rows = self.rows(rng, 10, function=1.5, unimplemented=80, getpid_raw=80, write=160)
        document = conclude("crossing", calls=100000, rows=rows)
        shares = {row["name"]: row["kernel_share"] for row in document["rows"]}
        assert shares["write"] == pytest.approx(0.5, abs=0.02)
        assert shares["getpid_raw"] is None
        assert "50 % are the crossing and 50 % its work" in findings(document)


def test_a_busy_machine_does_not_hide_the_vdso(
    conclude: Conclude, rng: np.random.Generator
) -> None:
    # Half of the trials were disturbed so much that the medians are alike.
    disturbed = [24.0, 25.0, *[400.0] * 8]
    rows = {"gettimeofday_vdso": disturbed, "gettimeofday_trap": [148.0, 150.0, *[410.0] * 8]}
    document = conclude("crossing", calls=100000, rows=rows)
    assert "stays out of the kernel" in findings(document)


def test_the_clock_is_judged_by_how_it_is_read_not_by_how_long(conclude: Conclude) -> None:
    slow = conclude("warnings", vdso=True, overhead=900, user_mode=False)
    assert "slow-clock" not in [warning["id"] for warning in slow["warnings"]]
    trap = conclude("warnings", vdso=False, overhead=90, user_mode=False)
    assert "slow-clock" in [warning["id"] for warning in trap["warnings"]]


def test_user_mode_linux_is_warned_of(conclude: Conclude) -> None:
    document = conclude("warnings", vdso=True, overhead=20, user_mode=True)
    texts = {warning["id"]: warning["text"] for warning in document["warnings"]}
    assert "switch between two processes" in texts["user-mode-linux"]


class TestFlexsc:
    """Throughput beside plain calls."""

    def test_no_win_and_a_large_ratio_are_not_told_together(
        self, conclude: Conclude, rng: np.random.Generator
    ) -> None:
        # So unsteady that a ratio of 3 says nothing.
        plain = [(300 * rng.lognormal(0, 1.2, 5)).tolist() for _ in range(2)]
        flexsc = [(100 * rng.lognormal(0, 1.2, 5)).tolist() for _ in range(2)]
        document = conclude("flexsc", work=[0, 150], plain=plain, flexsc=flexsc)
        cells = [cell for cell in document["cells"] if cell["way"] == "flexsc"]
        assert not any(cell["significant"] for cell in cells)
        assert "wins at no W" in findings(document)
        assert "the throughput" not in findings(document)

    def test_a_win_has_its_throughput_and_its_break_even(
        self, conclude: Conclude, rng: np.random.Generator
    ) -> None:
        def steady(ns: float) -> list[float]:
            return [ns * (1 + 0.005 * float(x)) for x in rng.standard_normal(8)]

        plain = [steady(100), steady(300)]
        document = conclude("flexsc", work=[0, 150], plain=plain, flexsc=[steady(200), steady(150)])
        assert "breaks even at about W = 50 ns" in findings(document).replace("51", "50")
        assert "for 2.0" in findings(document) or "for 1.9" in findings(document)
        (gain,) = document["gains"]
        assert gain["from_ns"] == pytest.approx(50, abs=3)
        assert (gain["to_ns"], gain["from_measured"], gain["to_measured"]) == (150, False, True)

    def test_gains_end_where_plain_calls_catch_up(self, conclude: Conclude) -> None:
        document = conclude(
            "flexsc",
            work=[0, 100, 200, 300],
            plain=[[100.0] * 4] * 4,
            flexsc=[[50.0] * 4, [200.0] * 4, [50.0] * 4, [50.0] * 4],
        )
        first, second = document["gains"]
        assert (first["from_ns"], first["from_measured"], first["to_measured"]) == (0, True, False)
        assert (first["to_ns"], second["from_ns"]) == pytest.approx((200 / 3, 400 / 3))
        assert second["to_ns"] == 300
        assert (second["from_measured"], second["to_measured"]) == (False, True)


def test_ten_comparisons_of_equals_are_rarely_called_different(
    conclude: Conclude, rng: np.random.Generator
) -> None:
    """One of all comparisons of a run is significant by chance in 5 % of the runs, not in 40."""
    runs, wrong = 100, 0
    for _ in range(runs):
        duels = [
            {"side": rng.gamma(20, 1, 21).tolist(), "against": rng.gamma(20, 1, 21).tolist()}
            for _ in range(10)
        ]
        document = conclude("apps", duels=duels)
        wrong += any(row["significant"] for row in document["comparisons"])
    # More would happen with a probability of less than 1 in 1000 at 5 %.
    assert wrong <= stats.binom.ppf(0.999, runs, 0.05)


def test_a_probability_is_corrected_for_the_number_of_comparisons(
    conclude: Conclude, rng: np.random.Generator
) -> None:
    faster = {"side": (rng.gamma(20, 1, 21)).tolist(), "against": (rng.gamma(20, 3, 21)).tolist()}
    equal = {"side": rng.gamma(20, 1, 21).tolist(), "against": rng.gamma(20, 1, 21).tolist()}
    document = conclude("apps", duels=[faster] + [equal] * 9)
    first = document["comparisons"][0]
    ratios = np.array(first["ratios"])
    alone = stats.binomtest(int((ratios < 1).sum()), len(ratios)).pvalue
    assert first["ratio"]["p"] == pytest.approx(10 * alone, rel=1e-9)
    assert first["significant"]
