# SPDX-License-Identifier: MIT
"""Counts the calls and the regions of a program: count_regions.py FILE, of --explain=json:FILE."""

import json
import sys
from pathlib import Path


def main() -> None:
    lines = Path(sys.argv[1]).read_text().splitlines()
    # An inlined function is explained wherever it went, a header in each file.
    found = {
        (region["file"], region["line"], region["column"], tuple(region["calls"])): region
        for region in map(json.loads, lines)
    }.values()
    regions = [region for region in found if region["is_region"]]
    rows = [region["in_a_row"] for region in regions]
    print(
        f"{sum(len(region['calls']) for region in found)} calls, "
        f"{sum(len(region['calls']) for region in regions)} in regions; "
        + ", ".join(
            f"{sum(row >= least for row in rows)} of {least} or more" for least in (2, 3, 5)
        )
    )


if __name__ == "__main__":
    main()
