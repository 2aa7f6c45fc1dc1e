# SPDX-License-Identifier: MIT
"""What `ferry cc` compiled does the same with batches and without, and batches where it may."""

import os
import random
import re
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT, FerryCc
from random_calls import program
from test_wrappers import HEADERS, WRAPPERS, c_call

FUNCTIONS = 20
SAME_RESULTS = Path(__file__).with_name("same_results.py")
LITMUS = Path(__file__).with_name("litmus.c")
OFF, ON = 0, 1

TWO_CALLS = """\
#include <unistd.h>
extern unsigned int ferry_auto_state;
__attribute__((noinline)) int both(int fd) { return fsync(fd) + fdatasync(fd); }
int main(void) { return both(-1) == -2 ? ferry_auto_state : 9; }
"""

# Unknown calls end a process that has called confine().
CONFINE = """\
#define _GNU_SOURCE
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <unistd.h>
extern unsigned int ferry_auto_state;
__attribute__((noinline)) int both(int fd) { return fsync(fd) + fdatasync(fd); }
static int confine(void)
{
    struct sock_filter lines[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 480, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog filter = { 4, lines };
    return !prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) && !prctl(PR_SET_SECCOMP, 2, &filter);
}
"""

FILTERED = (
    CONFINE
    + """\
int main(int before, char **arguments)
{
    before--;
    if (before && (both(-1) != -2 || ferry_auto_state != 1))
        return 7;
    if (!confine())
        return 8;
    return both(-1) == -2 ? ferry_auto_state : 9;
}
"""
)

CONFINED = (
    CONFINE
    + """\
int main(int count, char **arguments)
{
    if (count > 1)
        return both(-1) == -2 ? ferry_auto_state : 9;
    if (!confine())
        return 8;
    execl(arguments[0], arguments[0], "confined", NULL);
    return 7;
}
"""
)

DESTROYED = """\
#include <fcntl.h>
#include <unistd.h>
extern unsigned int ferry_auto_state;
struct Counter {
    int &count;
    ~Counter() { count++; }
};
__attribute__((noinline)) long head(const char *path, int &count)
{
    char byte[2];
    Counter counter = {count};
    int fd = open(path, O_RDONLY);
    if (fd < 0)
        return -1;
    long n = read(fd, byte, 2);
    close(fd);
    return n;
}
int main()
{
    int count = 0;
    if (head("/proc/self/maps", count) != 2 || head("/nonexistent", count) != -1)
        return 8;
    return count == 2 ? ferry_auto_state : 9;
}
"""

CANCELLED = """\
#include <pthread.h>
#include <unistd.h>
static int ends[2];
__attribute__((noinline)) static long drain(int fd, char *to)
{
    long n = read(fd, to, 1);
    return n + close(fd);
}
static void *run(void *unused)
{
    char byte;
    return (void *)(drain(ends[0], &byte) & (long)unused);
}
int main(void)
{
    pthread_t thread;
    void *result = 0;
    if (pipe(ends) || pthread_create(&thread, 0, run, 0))
        return 1;
    usleep(50000);
    pthread_cancel(thread);
    pthread_join(thread, &result);
    return result != PTHREAD_CANCELED;
}
"""

# What a program gets must not depend on batches: it prints the same with each way.
IRREDUCIBLE = """\
#include <stdio.h>
#include <unistd.h>
__attribute__((noinline)) long turns(int n, int way)
{
    long h = 0;
    int i = 0, a = dup(1);
    if (a < 0)
        return -1;
    if (way)
        goto second;
first:
    h = h * 31 + lseek(n + 100, 0, 0);
    if (++i > 5)
        return h;
second:
    h = h * 31 + dup(a);
    if (++i > 5)
        return h;
    goto first;
}
int main(void) { printf("%ld\\n", turns(0, 1)); printf("%ld\\n", turns(0, 0)); }
"""

CHOSEN_BUFFER = """\
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
__attribute__((noinline)) long sum(const char *path, int flag)
{
    long h = 0;
    int fd = open(path, O_RDONLY);
    if (fd < 0)
        return -1;
    {
        char early[64];
        memset(early, flag, 64);
        for (int i = 0; i < 64; i += 9)
            early[(i * flag) & 63] = flag * i;
        h += early[(flag * 9) & 63];
    }
    {
        char one[64], other[64], *chosen = flag ? one : other;
        long n = read(fd, chosen, 64);
        if (n > 0)
            h = h * 31 + chosen[0] + chosen[5] + chosen[n - 1];
    }
    close(fd);
    return h;
}
int main(void) { printf("%ld %ld\\n", sum("/proc/self/status", 1), sum("/proc/self/status", 0)); }
"""

CURRENT_FOLDER = """\
#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>
__attribute__((noinline)) int both(int fd)
{
    struct stat one, other;
    return fstat(fd, &one) * 3 + fstat(fd, &other);
}
int main(void) { printf("%d", both(-100)); printf(" %d\\n", errno); }
"""

OWN_SEND = """\
#include <sys/socket.h>
extern unsigned int ferry_auto_state;
__attribute__((noinline)) long both(int fd) { return send(fd, "a", 1, 0) + send(fd, "b", 1, 0); }
int main(void) { return both(-1) == 84 ? ferry_auto_state : 9; }
"""


def build(ferry_cc: FerryCc, tmp_path: Path, text: str, *options: str) -> Path:
    (tmp_path / "program.c").write_text(text)
    done = ferry_cc([], "-O2", "-w", *options, "program.c", "-o", "program")
    assert (done.returncode, done.stderr) == (0, "")
    return tmp_path / "program"


def status(made: Path, *words: str, **variables: str) -> int:
    return subprocess.run(
        [made, *words], env=os.environ | variables, timeout=20, check=False
    ).returncode


@pytest.fixture
def random_program(ferry_cc: FerryCc, tmp_path: Path) -> Path:
    seed = random.randrange(1_000_000)
    print(f"random_calls.py {seed} {FUNCTIONS}")
    return build(ferry_cc, tmp_path, program(seed, FUNCTIONS))


def test_a_random_function_may_keep_no_result() -> None:
    command = ["cc", "-fsyntax-only", "-w", f"-I{ROOT / 'include'}", "-x", "c", "-"]
    subprocess.run(command, input=program(6802, 1), text=True, check=True)


def test_random_functions_return_the_same(random_program: Path) -> None:
    command = [sys.executable, str(SAME_RESULTS), str(random_program), "loop"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stdout


def calls_of(made: Path, mode: str, folder: Path) -> list[str]:
    """The calls as strace sees them, without what the loop or the start of the process adds."""
    folder.mkdir()
    environment = os.environ | {"FERRY_AUTO": mode}
    trace = str(folder / "trace")
    command = ["strace", "-o", trace, "-e", "trace=!brk,getrandom", str(made)]
    subprocess.run(command, cwd=folder, env=environment, capture_output=True, check=False)
    text = (folder / "trace").read_text(errors="replace")
    lines = text[text.index("fcntl(") if "fcntl(" in text else 0 :].splitlines()
    kept = []
    for line in lines:
        # The C library refuses these itself; the loop looks whether memory can be written.
        refused = r"newfstatat\(-\d+, \"\", |fstat\(-\d+, "
        if re.match(refused + r"|rt_sigprocmask\(0xffffffff|--- |write\(2", line):
            continue
        short = re.sub(r"0x[0-9a-f]+|\{.*\}", "_", line)
        kept.append(re.sub(r"sa_restorer=\S+| +=", " =", short))
    return kept


def test_random_functions_make_the_same_calls(random_program: Path, tmp_path: Path) -> None:
    plain = calls_of(random_program, "off", tmp_path / "plain")
    batched = calls_of(random_program, "loop", tmp_path / "batched")
    # What comes before main() differs by the probe.
    plain = plain[next(i for i, line in enumerate(plain) if line.startswith("close(39")) :]
    batched = batched[next(i for i, line in enumerate(batched) if line.startswith("close(39")) :]
    assert batched == plain


def test_batches_are_made_where_they_are_wanted(ferry_cc: FerryCc, tmp_path: Path) -> None:
    made = build(ferry_cc, tmp_path, TWO_CALLS)
    assert status(made, FERRY_AUTO="loop") == ON
    assert status(made, FERRY_AUTO="off") == OFF


def test_a_program_knows_before_its_first_region(ferry_cc: FerryCc, tmp_path: Path) -> None:
    """Which may be in a signal handler, where the run time could not ask."""
    made = build(ferry_cc, tmp_path, TWO_CALLS.replace("both(-1) == -2", "1"))
    assert status(made, FERRY_AUTO="loop") == ON


def interposing(name: str, folder: Path) -> str:
    """A library that has a function of this NAME."""
    library = str(folder / f"{name}.so")
    command = ["cc", "-shared", "-fPIC", "-w", "-x", "c", "-", "-o", library]
    text = f"int {name}(void) {{ return -1; }}\n"
    subprocess.run(command, input=text, text=True, check=True)
    return library


def test_none_is_made_where_a_function_is_interposed(ferry_cc: FerryCc, tmp_path: Path) -> None:
    head = "__attribute__((used)) static void region_"
    regions = (f"{head}{of.name}(void)\n{{\n{c_call(of) * 2}}}\n" for of in WRAPPERS)
    end = "extern unsigned int ferry_auto_state;\nint main(void) { return ferry_auto_state; }\n"
    made = build(ferry_cc, tmp_path, HEADERS + "".join(regions) + end)
    assert status(made, FERRY_AUTO="loop") == ON
    for wrapper in WRAPPERS:
        library = interposing(wrapper.name, tmp_path)
        assert status(made, FERRY_AUTO="loop", LD_PRELOAD=library) == OFF, wrapper.name


@pytest.mark.parametrize(
    "options",
    [
        ["-ffunction-sections", "-fdata-sections", "-Wl,--gc-sections"],
        ["-fno-pie", "-no-pie"],
        ["-flto"],
        ["-fuse-ld=gold", "-flto=thin"],
    ],
)
def test_only_functions_that_regions_call_are_asked_for(
    ferry_cc: FerryCc, tmp_path: Path, options: list[str]
) -> None:
    made = build(ferry_cc, tmp_path, TWO_CALLS, *options)
    for name, expected in {"fsync": OFF, "fdatasync": OFF, "access": ON}.items():
        library = interposing(name, tmp_path)
        assert status(made, FERRY_AUTO="loop", LD_PRELOAD=library) == expected, name


OWN_FUNCTIONS = {
    "exported": (TWO_CALLS, "int access(const char *path, int mode) { return 0; }", "-rdynamic"),
    "unknown to the dynamic linker": (
        OWN_SEND,
        "long send(int a, const void *b, long c, int d) { return 42; }",
        "-fvisibility=hidden",
    ),
}


@pytest.mark.parametrize("case", OWN_FUNCTIONS.values(), ids=OWN_FUNCTIONS)
def test_none_is_made_where_the_program_has_such_a_function(
    ferry_cc: FerryCc, tmp_path: Path, case: tuple[str, str, str]
) -> None:
    text, own, option = case
    (tmp_path / "own.c").write_text(own + "\n")
    made = build(ferry_cc, tmp_path, text, option, "own.c")
    assert status(made, FERRY_AUTO="loop") == OFF


@pytest.mark.parametrize("text", [IRREDUCIBLE, CHOSEN_BUFFER, CURRENT_FOLDER])
def test_the_same_is_printed(ferry_cc: FerryCc, tmp_path: Path, text: str) -> None:
    made = build(ferry_cc, tmp_path, text)
    printed = [
        subprocess.run(
            [made],
            env=os.environ | {"FERRY_AUTO": mode},
            capture_output=True,
            check=True,
            timeout=20,
        ).stdout
        for mode in ("off", "loop")
    ]
    assert printed[0] == printed[1]


@pytest.mark.parametrize("options", [["-O0"], ["-O2"], ["-O2", "-flto"], ["-O2", "-flto=thin"]])
def test_batches_are_turned_off_before_filters_however_it_is_compiled(
    ferry_cc: FerryCc, tmp_path: Path, options: list[str]
) -> None:
    (tmp_path / "filter.c").write_text(
        "#include <sys/prctl.h>\n"
        "int confine(void) { return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); }"
    )
    done = ferry_cc([], *options, "-S", "-emit-llvm", "filter.c", "-o", "-")
    assert re.search(r"store atomic i32 0, .*@ferry_auto_state", done.stdout)


def test_a_filter_does_not_see_the_probe(ferry_cc: FerryCc, tmp_path: Path) -> None:
    assert status(build(ferry_cc, tmp_path, FILTERED)) == OFF


def test_a_filter_from_before_the_start_sees_no_unknown_call(
    ferry_cc: FerryCc, tmp_path: Path
) -> None:
    """So the kernel's engines make no batch, and the loop makes one by the program's own calls."""
    made = build(ferry_cc, tmp_path, CONFINED)
    assert status(made) == OFF
    assert status(made, FERRY_AUTO="device") == OFF
    assert status(made, FERRY_AUTO="loop") == ON


def test_a_program_that_confines_itself_makes_none_from_then_on(
    ferry_cc: FerryCc, tmp_path: Path
) -> None:
    made = build(ferry_cc, tmp_path, FILTERED)
    assert status(made, "before", FERRY_AUTO="loop") == OFF


def test_a_thread_in_a_region_can_be_cancelled(ferry_cc: FerryCc, tmp_path: Path) -> None:
    made = build(ferry_cc, tmp_path, CANCELLED, "-pthread")
    assert status(made, FERRY_AUTO="loop") == 0


def test_destructors_run(ferry_cc: FerryCc, tmp_path: Path) -> None:
    """Where they run, clang sees calls that may throw: as invoke, which ends a block."""
    (tmp_path / "program.cc").write_text(DESTROYED)
    done = ferry_cc([], "-O2", "program.cc", "-o", "program", command="c++")
    assert (done.returncode, done.stderr) == (0, "")
    assert status(tmp_path / "program", FERRY_AUTO="loop") == ON
    done = ferry_cc(["--explain"], "-O2", "-c", "program.cc", command="c++")
    assert "3 calls, 3 in a row if none fails: open read close" in done.stderr


@pytest.mark.parametrize("rule", ["order", "volatile"])
def test_another_thread_sees_stores_in_order(ferry_cc: FerryCc, tmp_path: Path, rule: str) -> None:
    words = ["-O2", "-pthread", str(LITMUS), "-o", "litmus"]
    for variables, expected in ({}, 0), ({"FERRY_CC_WITHOUT": rule}, 1):
        assert ferry_cc([], *words, **variables).returncode == 0
        done = subprocess.run(
            ["./litmus", rule],
            cwd=tmp_path,
            env=os.environ | {"FERRY_AUTO": "loop"},
            timeout=20,
            check=False,
        )
        assert done.returncode == expected


def test_static_programs_run(ferry_cc: FerryCc, tmp_path: Path) -> None:
    assert status(build(ferry_cc, tmp_path, TWO_CALLS, "-static"), FERRY_AUTO="loop") in (OFF, ON)
