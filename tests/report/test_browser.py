# SPDX-License-Identifier: MIT
"""The page in headless Chromium: wide and narrow, light and dark, and printed."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import pytest
import sample
from conftest import make_report, write_runs
from playwright.sync_api import Browser, Page, sync_playwright

Scheme = Literal["light", "dark"]
SCHEMES: list[Scheme] = ["light", "dark"]
WIDTHS = [320, 360, 700, 760, 761, 1280]
PHONE, DESKTOP = 360, 1280

# Pairs of words of a figure that lie on each other, and words that leave it.
BAD_TEXT = """() => {
  const bad = [];
  for (const svg of document.querySelectorAll('svg')) {
    const frame = svg.getBoundingClientRect();
    const texts = [...svg.querySelectorAll('text')].map(text => [text.textContent,
      text.getBoundingClientRect()]).filter(([, box]) => box.width > 0);
    texts.forEach(([word, box], i) => {
      if (box.left < frame.left - 1 || box.right > frame.right + 1 ||
          box.top < frame.top - 1 || box.bottom > frame.bottom + 1)
        bad.push(`${word} leaves ${svg.closest('figure').id}`);
      for (const [other, its] of texts.slice(i + 1)) {
        const across = Math.min(box.right, its.right) - Math.max(box.left, its.left);
        const down = Math.min(box.bottom, its.bottom) - Math.max(box.top, its.top);
        if (across > 1 && down > 3)
          bad.push(`${word} lies on ${other} in ${svg.closest('figure').id}`);
      }
    });
  }
  return bad;
}"""

TEXT_HEIGHTS = """() => [...document.querySelectorAll('svg text')]
  .map(text => text.getBoundingClientRect().height).filter(height => height > 0)"""

# The contrast (WCAG 2) of each colour with the paper.
CONTRASTS = """names => {
  const probe = document.body.appendChild(document.createElement('i'));
  const luminance = name => {
    probe.style.color = `var(--${name})`;
    const parts = getComputedStyle(probe).color.match(/[\\d.]+/g).slice(0, 3).map(part => {
      const value = part / 255;
      return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2];
  };
  const paper = luminance('paper');
  return Object.fromEntries(names.map(name => {
    const one = luminance(name);
    return [name, (Math.max(one, paper) + 0.05) / (Math.min(one, paper) + 0.05)];
  }));
}"""

BAR_WIDTHS = """id => [...document.querySelector(`#${id} .panel`).querySelectorAll('path')]
  .filter(path => /fill: var\\(--(grey|orange|blue)\\)/.test(path.getAttribute('style') || '')
    && !path.closest('defs'))
  .map(path => path.getBoundingClientRect()).map(box => [box.top, box.width])"""


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    program = shutil.which("chromium")
    assert program, "these tests need Debian's chromium"
    with sync_playwright() as playwright:
        # Without its sandbox: it cannot have one as root or in a container.
        yield playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])


@pytest.fixture(scope="session")
def many_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page of unusual runs: long names, many engines, one trial, extreme ratios."""
    crossing = sample.crossing(trials=1)
    crossing["rows"][3]["label"] = "a label that is much too long to stand beside or above a bar"
    batch = sample.batch(calls=["write"])
    for engine, factor in (("device", 0.51), ("syscall", 0.5), ("auto", 0.49)):
        more = sample.batch(calls=["write"])["series"][1] | {"engine": engine}
        more["trials_ns"] = [[factor * time for time in trial] for trial in more["trials_ns"]]
        more["fit"] = {name: [factor * ns for ns in line] for name, line in more["fit"].items()}
        batch["series"].append(more)
    columns = [{"heading": "NUMBER", "text": False} for _ in range(11)]
    batch["tables"][0] |= {"columns": columns, "rows": [["write, 1 byte", *["1234.5678"] * 10]]}
    apps = sample.apps(pairs=21)
    slow = apps["comparisons"][0]
    slow["pairs_ns"] = [[own, 900 * other] for own, other in slow["pairs_ns"]]
    slow["ratio"] = {name: 900 * value for name, value in slow["ratio"].items()}
    slow["against"] = "a command with many arguments and a long name"
    flexsc = sample.flexsc(trials=1)
    for cell in flexsc["cells"]:
        if cell["way"] == "flexsc":
            cell["runners"] *= 32
    runs = {"crossing": crossing, "batch": batch, "apps": apps, "again": sample.crossing()}
    directory = write_runs(tmp_path_factory.mktemp("many") / "results", runs | {"flexsc": flexsc})
    done = make_report(directory)
    assert done.returncode == 0, done.stderr
    return directory / "report.html"


def open_page(browser: Browser, path: Path, width: int, scheme: Scheme) -> Page:
    """The page, after it loaded without a word on the console and from nowhere else."""
    page = browser.new_page(viewport={"width": width, "height": 800}, color_scheme=scheme)
    complaints: list[Any] = []
    requests: list[str] = []
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(error))
    page.on("request", lambda request: requests.append(request.url))
    page.goto(path.as_uri())
    assert complaints == []
    assert [url for url in requests if not url.startswith("data:")] == [path.as_uri()]
    return page


def keep(page: Page, name: str) -> None:
    """For review by eye: FERRY_SCREENSHOTS names a directory."""
    if directory := os.environ.get("FERRY_SCREENSHOTS"):
        page.screenshot(path=Path(directory) / f"{name}.png", full_page=True)


def overflow(page: Page) -> int:
    return int(page.evaluate("document.documentElement.scrollWidth - innerWidth"))


@pytest.mark.parametrize("which", ["page_path", "many_path"])
def test_it_loads_fits_and_is_legible(
    browser: Browser, request: pytest.FixtureRequest, which: str
) -> None:
    page = open_page(browser, request.getfixturevalue(which), DESKTOP, "light")
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 800})
        keep(page, f"{which}-{width}-light")
        assert overflow(page) <= 0
        assert page.evaluate(BAD_TEXT) == []
        heights = page.evaluate(TEXT_HEIGHTS)
        assert len(heights) > 50
        assert min(heights) >= (12 if width >= PHONE else 10)  # pixels of a line, not of an x
    page.evaluate("for (const box of document.querySelectorAll('details')) box.open = true")
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 800})
        assert overflow(page) <= 0
    page.close()


def test_no_column_of_a_table_is_cut_off_on_a_desktop(browser: Browser, many_path: Path) -> None:
    page = open_page(browser, many_path, 1300, "light")
    page.evaluate("for (const box of document.querySelectorAll('details')) box.open = true")
    hidden = (
        "[...document.querySelectorAll('.table')].map(one => one.scrollWidth - one.clientWidth)"
    )
    assert max(page.evaluate(hidden)) <= 0
    page.close()


@pytest.mark.parametrize(("width", "abreast"), [(PHONE, 1), (DESKTOP, 2)])
def test_panels_stand_side_by_side_where_there_is_room(
    browser: Browser, page_path: Path, width: int, abreast: int
) -> None:
    page = open_page(browser, page_path, width, "light")
    panels = page.locator("#pagefault-7-sizes .panel")
    tops = {round(panels.nth(i).evaluate("one => one.offsetTop")) for i in range(2)}
    assert len(tops) == 2 // abreast
    page.close()


@pytest.mark.parametrize("scheme", SCHEMES)
def test_colours_stand_out_from_the_paper(
    browser: Browser, page_path: Path, scheme: Scheme
) -> None:
    page = open_page(browser, page_path, DESKTOP, scheme)
    names = ["ink", "soft", "link", "caution", "green", "blue", "grey", "orange", "purple"]
    contrasts = page.evaluate(CONTRASTS, [*names, "yellow"])
    assert {name: value for name, value in contrasts.items() if value < 4.5} == {}
    page.close()


def paper(page: Page) -> str:
    style = "getComputedStyle(document.documentElement).getPropertyValue('--paper')"
    return str(page.evaluate(style)).strip()


def test_dark_is_dark_and_print_is_light(browser: Browser, page_path: Path) -> None:
    page = open_page(browser, page_path, DESKTOP, "dark")
    assert int(paper(page)[1:3], 16) < 0x40
    keep(page, f"page_path-{DESKTOP}-dark")
    page.emulate_media(media="print", color_scheme="dark")
    assert paper(page) == "#fff"
    page.close()


def test_print_shows_every_table_and_figure(browser: Browser, page_path: Path) -> None:
    page = open_page(browser, page_path, DESKTOP, "light")
    hidden = page.locator("table:visible").count()
    page.emulate_media(media="print")
    page.set_viewport_size({"width": 680, "height": 1000})
    assert overflow(page) <= 0
    assert page.locator("table").count() > hidden
    heights = page.evaluate(
        "[...document.querySelectorAll('table')].map(t => t.getBoundingClientRect().height)"
    )
    assert min(heights) > 20
    assert page.locator(".panel:visible").count() == page.locator(".panel").count()
    assert page.evaluate(BAD_TEXT) == []
    assert page.pdf(format="A4").startswith(b"%PDF-")
    page.close()


def test_bars_are_as_long_as_the_medians(browser: Browser, page_path: Path) -> None:
    page = open_page(browser, page_path, DESKTOP, "light")
    lengths: dict[float, float] = {}
    for top, width in page.evaluate(BAR_WIDTHS, "crossing-0-rows"):
        lengths[round(top)] = lengths.get(round(top), 0) + width
    medians = [row["median"] for row in sample.crossing()["rows"] if row["available"]]
    drawn = [length for _, length in sorted(lengths.items())]
    assert len(drawn) == len(medians)
    scale = max(drawn) / max(medians)
    assert drawn == pytest.approx([scale * median for median in medians], abs=0.6)
    page.close()


def test_a_reader_without_sight_gets_the_figures_in_words(
    browser: Browser, page_path: Path
) -> None:
    page = open_page(browser, page_path, DESKTOP, "light")
    assert page.get_by_role("img").count() == page.locator(".panel").count()
    assert page.get_by_role("main").count() == 1
    stat = page.locator("#crossing-0-rows").get_by_role("img").first.get_attribute("aria-label")
    assert stat
    assert "stat " in stat
    page.close()
