# SPDX-License-Identifier: MIT
"""The cost of a program's start and of its first region: start.py FERRY [PROCESSES].

In us, the least and the median of the processes; without regions, the run time is not linked.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

PROGRAM = """\
#include <fcntl.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>
static long now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000000L + time.tv_nsec;
}
static long start;
__attribute__((constructor(101))) static void begin(void)
{
    now(); /* the first call is slower */
    start = now();
}
__attribute__((noinline)) static long region(const char *path, char *to)
{
    int fd = open(path, O_RDONLY);
    if (fd < 0)
        return -1;
    return read(fd, to, 8) + close(fd);
}
int main(void)
{
    char byte[8];
    long ready = now() - start, before = now();
    region("/dev/null", byte);
    printf("%ld %ld\\n", ready, now() - before);
}
"""


WAYS = {  # optimisation, and FERRY_AUTO
    "without regions": ("-O0", None),
    "off": ("-O2", "off"),
    "by the loop": ("-O2", "loop"),
    "as the kernel has it": ("-O2", None),
}


def measure(program: Path, mode: str | None, count: int) -> str:
    environment = {k: v for k, v in os.environ.items() if k != "FERRY_AUTO"}
    if mode:
        environment["FERRY_AUTO"] = mode
    text = ""
    lines = [subprocess.check_output([program], env=environment).split() for _ in range(count)]
    for at, name in enumerate(("start", "region")):
        times = sorted(int(line[at]) / 1000 for line in lines)
        text += f"  {name} {times[0]:5.2f} {times[count // 2]:5.2f}"
    return text


def main() -> None:
    ferry, count = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 300
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "program"
        for name, (level, mode) in WAYS.items():
            words = [ferry, "cc", level, "-w", "-x", "c", "-", "-o", str(program)]
            subprocess.run(words, input=PROGRAM, text=True, check=True)
            print(f"{name:20}{measure(program, mode, count)}")


if __name__ == "__main__":
    main()
