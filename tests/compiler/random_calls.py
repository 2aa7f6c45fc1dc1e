# SPDX-License-Identifier: MIT
"""A random C program of system calls, branches and accesses to memory: random_calls.py SEED COUNT.

It prints what each function returns, so that two ways of compiling it can be compared.
"""

import random
import sys

PATHS = ["p", "q", '"file"', '"empty"', '"none"', '"dir"', '"file/x"', '""']
FLAGS = ["O_RDONLY", "O_RDWR", "O_RDONLY | O_DIRECTORY", "O_RDWR | O_CREAT, 0600"]
CALLS = [
    ("fd", "open({path}, {flags})"),
    ("fd", "open({path}, {flags})"),
    ("fd", "dup({fd})"),
    ("fd", "socket(AF_INET, SOCK_STREAM, 0)"),
    ("int", "close({fd})"),
    ("int", "fstat({fd}, {stat})"),
    ("int", "fstat({fd}, {stat})"),
    ("int", "stat({path}, {stat})"),
    ("int", "lstat({path}, {stat})"),
    ("int", "read({fd}, {buffer}, {size})"),
    ("int", "pread({fd}, {buffer}, 8, {offset})"),
    ("int", "pwrite({fd}, {buffer}, 4, {offset})"),
    ("int", "lseek({fd}, {offset}, SEEK_SET)"),
    ("int", "ftruncate({fd}, {offset})"),
    ("int", "fcntl({fd}, F_GETFL)"),
    ("int", "fcntl({fd}, F_SETFD, 1)"),
    ("int", "access({path}, R_OK)"),
    ("int", "posix_fadvise({fd}, {offset}, 0, 0)"),
    ("int", "setsockopt({fd}, SOL_SOCKET, SO_KEEPALIVE, &one, sizeof(one))"),
    ("int", "sigaction({signal}, &action, NULL)"),
    ("int", "sigaction({signal}, NULL, &old)"),
    ("int", "mmap(NULL, st.st_size, PROT_READ, MAP_PRIVATE, {fd}, 0) == MAP_FAILED"),
    ("int", "mkdir({path}, 0700)"),
    ("int", "pipe2(ends, O_NONBLOCK)"),  # else a read() may wait for ever, with batches or without
    ("int", "unlink({path})"),
]
QUIET = [
    "h = h * 31 + {int};",
    "h = h * 31 + errno;",
    "errno = {number};",
    "h += st.st_size;",
    "h ^= near[{number}];",
    "near[{number}] = {int};",
    "far[{number}] += 1;",
    "shared += {int};",
    "h += shared;",
    "touched = {int};",
    "h = note(h);",
    "one = {int};",
    "kept = {int} | 8;",
    "ends[1] = {int} | 8;",
    "st.st_size = 5;",
    "memset(&st, 0, sizeof(st));",
    "words[{number} & 3] = {int};",
    "h += words[{number} & 3];",
    "action.sa_handler = {handler};",
    "sigaddset(&action.sa_mask, {signal});",
    "h = h * 3 + (old.sa_handler == on);",
]
CONDITIONS = [
    *(
        "{int} < 0",
        "{int} < 0",
        "{int} == -1",
        "{int} >= 0",
        "{int} == 0",
        "{int} > 0",
        "{int} == 4",
    ),
    *("n > 3", "flag", "S_ISREG(st.st_mode)", "errno == ENOENT", "{int} == {size}"),
]
HEAD = """\
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>
#include <ferry/auto.h>
char far[64];
struct stat there;
int kept;
long shared;
volatile long touched;
extern unsigned int ferry_auto_state __attribute__((weak));
static void on(int s) { touched += s; }
__attribute__((noinline)) static long note(long h) { __asm__ volatile(""); return h * 7 + shared; }
"""
FUNCTION = """
__attribute__((noinline)) static long f{name}(const char *p, const char *q, int n, int flag)
{{
	long h = 1, words[4] = {{ 1, 2, 3, n }};
	int one = 1, ends[2] = {{ -1, -1 }}{variables};
	struct stat st = {{ 0 }}, other = {{ 0 }};
	struct sigaction action = {{ .sa_handler = on }}, old = {{ 0 }};
	char near[32] = "abcdefgh", far_off[32] = {{ 0 }};

{body}
out:
	h = h * 31 + errno + st.st_size + other.st_size + one + near[0] + 3 * near[5] + far_off[2];
	h = h * 31 + ends[0] + 3 * ends[1] + kept;
	h = h * 31 + words[0] + 5 * words[1] + 7 * words[2] + words[3];
	{sum}
	return h;
}}
"""
# In each turn, memory of its own: that is what FERRY_INDEPENDENT promises.
INDEPENDENT = """
__attribute__((noinline)) FERRY_INDEPENDENT
static long f{name}(const char *p, const char *q, int n, int flag)
{{
	const char *const names[] = {{ "file", "none", p, "empty", q, "dir", "file", "file/x" }};
	long h = 1, sizes[20] = {{ 0 }};
	int i;

	for (i = 0; i < {turns}; i++) {{
		struct stat st = {{ 0 }}, other = {{ 0 }};
		char near[32] = "abcdefgh", far_off[32] = {{ 0 }};
		int {variables};

{body}
		sizes[i] = st.st_size + other.st_size + near[0] + 3 * far_off[2] + {sum};
	}}
	for (i = 0; i < 20; i++)
		h = h * 31 + sizes[i];
	return h;
}}
"""
TURN_CALLS = [
    *(("int", f"{name}(names[i & 7], {{stat}})") for name in ("stat", "lstat", "lstat")),
    ("int", "access(names[i & 7], R_OK)"),
    ("fd", "open(names[i & 7], {flags})"),
    ("fd", "open({path}, {flags})"),
    ("int", "fstat({fd}, {stat})"),
    ("int", "read({fd}, {buffer}, 16)"),
    ("int", "close({fd})"),
    ("int", "mkdir(names[i & 7], 0700)"),
    ("int", "unlink(names[i & 7])"),
]
TURN_QUIET = [
    *("h = h * 31 + {int};", "h = h * 31 + errno;", "h += st.st_size;", "errno = {number};"),
    *("near[{number}] = {int};", "sizes[i] += {int};", "st.st_size = 5;", "h ^= near[{number}];"),
]
TURN_CONDITIONS = [
    *("{int} < 0", "{int} < 0", "{int} == -1", "{int} == 0", "{int} > 0"),
    *("n > 3", "flag", "S_ISREG(st.st_mode)", "errno == ENOENT"),
]
TAIL = """
static void prepare(void)
{{
	int fd, s;

	for (fd = 3; fd < 40; fd++)
		close(fd);
	unlink("none");
	rmdir("none");
	rmdir("dir");
	unlink("dir");
	unlink("file");
	rmdir("file");
	rmdir("empty");
	unlink("empty");
	mkdir("dir", 0700);
	fd = open("file", O_CREAT | O_TRUNC | O_RDWR, 0600);
	write(fd, "hello, this is a file", 21);
	close(fd);
	close(open("empty", O_CREAT | O_TRUNC | O_RDWR, 0600));
	for (s = SIGUSR1; s <= SIGUSR2; s++)
		signal(s, SIG_IGN);
	memset(far, 0, sizeof(far));
	memset(&there, 0, sizeof(there));
	shared = touched = errno = 0;
	kept = -1;
}}

int main(void)
{{
	static long (*const functions[])(const char *, const char *, int, int) = {{ {names} }};
	size_t i;
	int v;

	for (i = 0; i < sizeof(functions) / sizeof(*functions); i++)
		for (v = 0; v < 6; v++) {{
			long h;

			prepare();
			h = functions[i](v % 2 ? "file" : "none", v % 3 ? "empty" : "dir", v * 2, v & 1);
			printf("%zu.%d %lx %d %ld %ld %ld %d\\n", i, v, h, errno, shared,
				touched, (long)there.st_size, far[1] + far[2]);
			fflush(stdout);
		}}
	/* 1: batches were made; not where this was compiled plainly */
	fprintf(stderr, "state %d\\n", &ferry_auto_state ? (int)ferry_auto_state : -1);
}}
"""


class Function:
    """One function, statement by statement."""

    calls, quiet, conditions = CALLS, QUIET, CONDITIONS
    leaving = ("goto out;", "return h;", "h++;")
    memory = (["&st", "&st", "&other", "&there"], ["near", "far_off", "far"])
    words: tuple[str, ...] = ("ends[0]", "ends[1]", "kept")

    def __init__(self, name: int, rnd: random.Random) -> None:
        self.name = name
        self.rnd = rnd
        self.lines: list[str] = []
        self.fds: list[str] = []
        self.ints: list[str] = []
        self.turns: list[str] = []

    def filled(self, text: str) -> str:
        rnd = self.rnd
        known = self.fds if self.fds and rnd.random() < 0.8 else ["-1", "99"]
        if rnd.random() < 0.2:
            known = list(self.words)
        return text.format(
            path=rnd.choice(PATHS),
            flags=rnd.choice(FLAGS),
            fd=rnd.choice(known),
            stat=rnd.choice(self.memory[0]),
            buffer=rnd.choice(self.memory[1]),
            size=rnd.choice(["4", "16", "0", "st.st_size & 31"]),
            offset=rnd.choice(["0", "2", "st.st_size", "words[1]", "n"]),
            signal=rnd.choice(["SIGUSR1", "SIGUSR2"]),
            handler=rnd.choice(["on", "SIG_IGN", "SIG_DFL"]),
            int=rnd.choice(self.ints or ["n"]),
            number=rnd.randrange(8),
        )

    def call(self, depth: int) -> None:
        kind, text = self.rnd.choice(self.calls)
        expression = self.filled(text)
        name = f"v{len(self.ints)}"
        self.ints.append(name)
        if kind == "fd":
            self.fds.append(name)
        self.lines.append("\t" * depth + f"{name} = {expression};")

    def branch(self, depth: int) -> None:
        condition = self.filled(self.rnd.choice(self.conditions))
        if self.rnd.random() < 0.2:
            condition += self.rnd.choice([" || ", " && "]) + self.filled(
                self.rnd.choice(self.conditions)
            )
        self.lines.append("\t" * depth + f"if ({condition}) {{")
        if self.rnd.random() < 0.5:
            self.block(self.rnd.randrange(1, 3), depth + 1)
        else:
            self.lines.append("\t" * (depth + 1) + self.rnd.choice(self.leaving))
        if self.rnd.random() < 0.3:
            self.lines.append("\t" * depth + "} else {")
            self.block(self.rnd.randrange(1, 3), depth + 1)
        self.lines.append("\t" * depth + "}")

    def loop(self, depth: int) -> None:
        """A few turns, entered in the middle or not; or one, and another where a call failed."""
        name = f"t{len(self.turns)}"
        self.turns.append(name)
        indent = "\t" * depth
        turns = self.rnd.choice(["1", "2", "3", "n", "flag + 1"])
        if self.rnd.random() < 0.2:
            condition = self.filled(self.rnd.choice(self.conditions))
            self.lines.append(f"{indent}if ({condition})\n{indent}\tgoto in_{name};")
            self.lines.append(f"{indent}for (; {name} < {turns}; {name}++) {{")
            self.block(1, depth + 1)
            self.lines.append(f"in_{name}:;")
            self.block(1, depth + 1)
            self.lines.append(f"{indent}}}")
        elif self.rnd.random() < 0.5:
            self.lines.append(f"{indent}for ({name} = 0; {name} < {turns}; {name}++) {{")
            self.block(self.rnd.randrange(1, 3), depth + 1)
            self.lines.append(f"{indent}}}")
        else:
            self.lines.append(f"{indent}do {{")
            self.block(1, depth + 1)
            condition = self.filled(self.rnd.choice(["{int} < 0", "{int} == -1", "{int} > 0"]))
            self.lines.append(f"{indent}}} while ({condition} && ++{name} < {turns});")

    def block(self, calls: int, depth: int = 1) -> None:
        while calls > 0:
            chance = self.rnd.random()
            if chance < 0.62:
                self.call(depth)
                calls -= 1
            elif chance < 0.78 or depth > 4:
                self.lines.append("\t" * depth + self.filled(self.rnd.choice(self.quiet)))
            elif chance < 0.95:
                self.branch(depth)
                calls -= 1
            else:
                self.loop(depth)
                calls -= 1

    def text(self) -> str:
        self.block(self.rnd.randrange(3, 9))
        return FUNCTION.format(
            name=self.name,
            variables="".join(
                [f", {name} = -7" for name in self.ints] + [f", {name} = 0" for name in self.turns]
            ),
            body="\n".join(self.lines),
            sum=" ".join(f"h = h * 31 + {name};" for name in self.ints),
        )


class IndependentFunction(Function):
    """A loop whose turns need nothing of each other."""

    calls, quiet, conditions = TURN_CALLS, TURN_QUIET, TURN_CONDITIONS
    leaving = ("continue;", "break;", "h++;")
    memory = (["&st", "&st", "&other"], ["near", "far_off"])
    words = ("-1", "99")

    def loop(self, depth: int) -> None:
        self.branch(depth)

    def text(self) -> str:
        self.block(self.rnd.randrange(1, 4), 2)
        return INDEPENDENT.format(
            name=self.name,
            turns=self.rnd.choice(["5", "8", "16", "19", "n", "2 * n"]),
            variables=", ".join([*(f"{name} = -7" for name in self.ints), "unused"]),
            body="\n".join(self.lines),
            sum=" + ".join(self.ints) or "n",
        )


def program(seed: int, count: int) -> str:
    rnd = random.Random(seed)
    functions = "".join(
        (IndependentFunction if name % 8 == 7 else Function)(name, rnd).text()
        for name in range(count)
    )
    names = ", ".join(f"f{name}" for name in range(count))
    return HEAD + functions + TAIL.format(names=names)


if __name__ == "__main__":
    sys.stdout.write(program(int(sys.argv[1]), int(sys.argv[2])))
