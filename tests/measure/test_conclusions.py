# SPDX-License-Identifier: MIT
"""No conclusion within the noise: made-up trials, and ferry bench's conclusions from them."""

import json
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import Conclude
from scipy import stats

SIZES = [1, 2, 4, 8, 16, 32, 64, 128, 256]
SEED = 20261122


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
        assert not any(each["significant"] for each in document["at_sizes"])
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


class TestBusyMachine:
    """Disturbances only add to a time: the least ones separate where medians do not."""

    def disturbed(self, rng: np.random.Generator, ns: float, trials: int = 40) -> list[float]:
        times = ns * (1 + 0.002 * rng.gamma(1.5, 1, trials))
        times += (rng.random(trials) < 0.6) * rng.exponential(600, trials)
        return [float(time) for time in times]

    def test_a_filter_that_adds_30_percent_is_found(
        self, conclude: Conclude, rng: np.random.Generator
    ) -> None:
        rows = {"plain": self.disturbed(rng, 85), "filtered": self.disturbed(rng, 110)}
        _, filtered = conclude("rows", rows=rows)["rows"]
        assert filtered["significant"]
        assert filtered["ratio"] == pytest.approx(85 / 110, rel=0.01)
        assert filtered["ratio_se"] is None

    def test_the_headline_is_the_least_time(
        self, conclude: Conclude, rng: np.random.Generator
    ) -> None:
        rows = {"function": [1.4] * 40, "unimplemented": self.disturbed(rng, 59)}
        document = conclude("crossing", calls=100000, rows=rows)
        (bare,) = [row for row in document["rows"] if row["name"] == "unimplemented"]
        assert bare["median"] > 100 and bare["settled"]
        assert "takes 59." in findings(document)

    def test_without_a_quiet_trial_there_is_no_headline(self, conclude: Conclude) -> None:
        rows = {"function": [1.4] * 4, "unimplemented": [300.0, 400.0, 655.0, 655.0]}
        text = findings(conclude("crossing", calls=100000, rows=rows))
        assert "is withheld" in text and "Repeat on a quiet machine" in text
        assert "655" not in text


class TestAgainst:
    """A run beside earlier ones."""

    def run(self, conclude: Conclude, rng: np.random.Generator, ns: float, **more: Any) -> Any:  # noqa: ANN401
        rows = {"function": (1.4 * (1 + 0.001 * rng.gamma(1.5, 1, 10))).tolist()}
        rows["unimplemented"] = (ns * (1 + 0.002 * rng.gamma(1.5, 1, 10))).tolist()
        return conclude("crossing", calls=100000, rows=rows, **more)

    def earlier(self, tmp_path: Path, documents: list[Any]) -> list[str]:
        paths = [tmp_path / f"{i}.json" for i in range(len(documents))]
        for path, document in zip(paths, documents, strict=True):
            path.write_text(json.dumps(document))
        return [str(path) for path in paths]

    @pytest.mark.parametrize("ns", [[85.0], [85.0, 85.4, 84.8]])
    def test_a_filter_that_adds_30_percent_is_found(
        self, ns: list[float], conclude: Conclude, rng: np.random.Generator, tmp_path: Path
    ) -> None:
        paths = self.earlier(tmp_path, [self.run(conclude, rng, each) for each in ns])
        against = self.run(conclude, rng, 110, against=paths)["against"]
        assert against["runs"] == len(ns)
        different = {row["what"]: row["different"] for row in against["rows"]}
        assert different == {"function": False, "unimplemented": True}

    def test_the_scatter_of_several_runs_is_what_they_show(
        self, conclude: Conclude, rng: np.random.Generator, tmp_path: Path
    ) -> None:
        paths = self.earlier(tmp_path, [self.run(conclude, rng, ns) for ns in (70, 85, 100)])
        against = self.run(conclude, rng, 110, against=paths)["against"]
        (row,) = [each for each in against["rows"] if each["what"] == "unimplemented"]
        medians = [
            figure["value"]
            for path in paths
            for figure in json.loads(Path(path).read_text())["figures"]
            if figure["what"] == "unimplemented"
        ]
        scatter = float(np.std(medians, ddof=1))
        assert row["before"] == pytest.approx(np.mean(medians), rel=1e-9)
        assert row["before_se"] == pytest.approx(scatter, rel=1e-9)
        t = (row["now"] - row["before"]) / (scatter * (1 + 1 / 3) ** 0.5)
        # Corrected for two figures, of which the other one differs less.
        assert row["p"] == pytest.approx(min(1, 2 * 2 * stats.t.sf(t, 2)), rel=1e-6)
        assert not row["different"]

    def test_a_watched_run_is_not_compared(
        self, conclude: Conclude, rng: np.random.Generator, tmp_path: Path
    ) -> None:
        paths = self.earlier(tmp_path, [self.run(conclude, rng, 85, withheld="it is watched")])
        against = self.run(conclude, rng, 180, against=paths)["against"]
        assert "it is watched" in against["withheld"]
        assert all(row["different"] is None for row in against["rows"])


class TestWatched:
    """While every system call is watched, the run gives no verdict."""

    def test_nothing_is_concluded(self, conclude: Conclude, rng: np.random.Generator) -> None:
        engines = {"loop": batches(rng, 100), "device": batches(rng, 40)}
        document = conclude("batch", sizes=SIZES, engines=engines, withheld="it is watched")
        assert document["withheld"] == "it is watched"
        assert not any(each["significant"] for each in document["ratios"] + document["at_sizes"])
        assert findings(document).startswith("Verdict withheld: it is watched.")
        assert len(document["findings"]) == 1


def test_large_pages_need_not_what_small_ones_do_to_be_cleared(conclude: Conclude) -> None:
    """Otherwise less than nothing, -369.6 ns, was beyond clearing."""
    touches = [[700.0] * 5, [500.0] * 5, [650.0] * 5, [140.0] * 5]
    document = conclude("pagefault", touches=touches)
    beyond = {row["way"]: row["beyond_clearing_ns"] for row in document["touches"]}
    assert beyond == {"base": 195, "clear": None, "populate": 145, "large_pages": None}
    # The kernel may clear faster than a program does.
    document = conclude("pagefault", touches=[*touches[:2], [450.0] * 5])
    assert document["touches"][2]["beyond_clearing_ns"] is None


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


def test_what_threads_gain_when_memory_is_mapped_ahead(conclude: Conclude) -> None:
    touches = [
        [least + i for i in range(9)] for least in (700.0, 500.0, 600.0, 900.0, 300.0, 603.0)
    ]
    document = conclude("pagefault", touches=touches)
    figures = {each["what"]: each["value"] for each in document["figures"]}
    against = "against MADV_POPULATE_WRITE"
    assert figures[f"prefault {against}"] == pytest.approx(2, rel=0.01)
    assert figures[f"prefault_here {against}"] == pytest.approx(0.995, rel=0.01)
    assert "idle CPUs, is 1.99 times as fast as MADV_POPULATE_WRITE" in findings(document)
    assert "On one CPU, where it maps alone, that is 1.00" in findings(document)
    # Without the row that it is compared with, nothing is said.
    document = conclude("pagefault", touches=touches[:2])
    assert "ferry_prefault()" not in findings(document)
