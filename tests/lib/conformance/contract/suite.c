// SPDX-License-Identifier: GPL-2.0 OR MIT
/* The basis of the tests of batches; see suite.h. */
#include <sys/resource.h>

#include "suite.h"

#define GUARD 0xa7

/* ---- tests ---- */

static struct test *tests;
static struct test **last = &tests;

void test_add(struct test *test)
{
	*last = test;
	last = &test->next;
}

const struct test *test_first(void)
{
	return tests;
}

/* ---- slots ---- */

struct batch_slot result_of(long value)
{
	static int mem = -1;

	/* lseek on /proc/PID/mem accepts every offset, even a negative one (proc(5)). */
	if (mem < 0 || fcntl(mem, F_GETFD) < 0) {
		int fd = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);

		mem = fcntl(fd, F_DUPFD_CLOEXEC, 200);
		close(fd);
		expect(mem >= 200);
	}
	return SLOT(SYS_lseek, mem, value, SEEK_SET);
}

long head_word(struct batch_slot slot)
{
	long word;

	memcpy(&word, &slot, sizeof(word));
	return word;
}

/* ---- expectations ---- */

void suite_fail(const char *file, int line, const char *format, ...)
{
	va_list args;
	char text[400];

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	fprintf(stderr, "%s:%d: %s\n", file, line, text);
	fflush(stderr);
	_exit(1);
}

void suite_skip(const char *reason)
{
	printf("skipped: %s\n", reason);
	fflush(stdout);
	_exit(CHILD_SKIPPED);
}

void expect_long(const char *file, int line, const char *what, long got, long want)
{
	if (got != want)
		suite_fail(file, line, "%s is %ld, not %ld", what, got, want);
}

void expect_same_bytes(const char *file, int line, const char *what, const void *got,
		       const void *want, size_t size)
{
	const unsigned char *a = got;
	const unsigned char *b = want;
	size_t i;

	if (!memcmp(a, b, size))
		return;
	for (i = 0; a[i] == b[i]; i++)
		;
	suite_fail(file, line, "%s: byte %zu is 0x%02x, not 0x%02x", what, i, a[i], b[i]);
}

/* ---- guarded arrays ---- */

struct room {
	unsigned char *base; /* a PROT_NONE page precedes it ... */
	unsigned char *end;  /* ... and one follows it here */
};

static struct room calls_room;
static struct room rets_room;

static size_t round_up(size_t bytes)
{
	return (bytes + PAGE - 1) & -PAGE;
}

static void room_reserve(struct room *room, size_t bytes)
{
	unsigned char *map;

	if (room->base)
		return;
	bytes = round_up(bytes) + PAGE;
	map = mmap(NULL, bytes + 2 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	expect(map != MAP_FAILED);
	expect(!mprotect(map + PAGE, bytes, PROT_READ | PROT_WRITE));
	room->base = map + PAGE;
	room->end = room->base + bytes;
}

/* The guard bytes around an array: its pages, and one more. */
static unsigned char *watched(const struct room *room, size_t bytes, enum side side, size_t *size)
{
	*size = round_up(bytes) + PAGE;
	return side == AT_END ? room->end - *size : room->base;
}

static void *room_place(struct room *room, size_t bytes, enum side side)
{
	size_t size;
	unsigned char *start = watched(room, bytes, side, &size);

	memset(start, GUARD, size);
	return side == AT_END ? room->end - bytes : room->base;
}

static bool room_intact(const struct room *room, size_t bytes, enum side side)
{
	size_t size;
	const unsigned char *byte = watched(room, bytes, side, &size);
	const unsigned char *first = side == AT_END ? room->end - bytes : room->base;
	const unsigned char *end = byte + size;

	for (; byte < end; byte++) {
		if (byte == first)
			byte += bytes;
		if (byte < end && *byte != GUARD)
			return false;
	}
	return true;
}

struct guarded guarded_new(unsigned long ncall, enum side side)
{
	struct guarded batch = { .ncall = ncall, .side = side };
	unsigned long i;

	expect(ncall <= MAX_GUARDED);
	room_reserve(&calls_room, MAX_GUARDED * sizeof(struct batch_slot));
	room_reserve(&rets_room, MAX_GUARDED * sizeof(long));
	batch.calls = room_place(&calls_room, ncall * sizeof(struct batch_slot), side);
	batch.rets = room_place(&rets_room, ncall * sizeof(long), side);
	memset(batch.calls, 0, ncall * sizeof(struct batch_slot));
	for (i = 0; i < ncall; i++)
		batch.rets[i] = UNTOUCHED;
	return batch;
}

void expect_guards(const char *file, int line, const struct guarded *batch)
{
	if (!room_intact(&rets_room, batch->ncall * sizeof(long), batch->side))
		suite_fail(file, line, "a byte outside rets[0 .. %ld] was written",
			   (long)batch->ncall - 1);
	if (!room_intact(&calls_room, batch->ncall * sizeof(struct batch_slot), batch->side))
		suite_fail(file, line, "a byte outside calls[0 .. %ld] was written",
			   (long)batch->ncall - 1);
}

void expect_rets_at(const char *file, int line, const struct guarded *batch, const long results[])
{
	unsigned long i;

	for (i = 0; i < batch->ncall; i++)
		if (batch->rets[i] != results[i])
			suite_fail(file, line, "rets[%lu] is %ld, not %ld", i, batch->rets[i],
				   results[i]);
	expect_guards(file, line, batch);
}

void expect_batch_at(const char *file, int line, enum side side, const struct batch_slot calls[],
		     unsigned long ncall, long returned, const long results[],
		     unsigned long nresults)
{
	struct guarded batch = guarded_new(ncall, side);
	long answer;

	if (ncall != nresults)
		suite_fail(file, line, "%lu slots, but %lu results expected", ncall, nresults);
	memcpy(batch.calls, calls, ncall * sizeof(*calls));
	answer = run_batch(batch.rets, batch.calls, ncall);
	expect_rets_at(file, line, &batch, results);
	if (answer != returned)
		suite_fail(file, line, "the batch returned %ld, not %ld", answer, returned);
	if (memcmp(batch.calls, calls, ncall * sizeof(*calls)) != 0)
		suite_fail(file, line, "a slot was changed");
}

/* ---- repetition ---- */

int repeats(void)
{
	const char *text = getenv("FERRY_REPEATS");

	return text ? atoi(text) : 3;
}

/* ---- children ---- */

#define CHILD_SECONDS 120 /* an emulated kernel with checks is slow */

static void become_child(void)
{
	const struct rlimit no_core = { 0, 0 };
	static const int caught[] = { SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGSYS };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(caught); i++)
		signal(caught[i], SIG_DFL);
	setrlimit(RLIMIT_CORE, &no_core);
	alarm(CHILD_SECONDS);
}

char state_of(pid_t pid)
{
	char path[64], text[512];
	ssize_t size;
	char *end;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	size = read(fd, text, sizeof(text) - 1);
	close(fd);
	if (size <= 0)
		return 0;
	text[size] = '\0';
	/* The command, in parentheses, may contain any character. */
	end = strrchr(text, ')');
	return end ? end[2] : 0;
}

void wait_until_state(pid_t pid, char state)
{
	int i;

	for (i = 0; state_of(pid) != state; i++) {
		expect(i < 10000);
		usleep(1000);
	}
}

void wait_until_asleep(pid_t pid)
{
	wait_until_state(pid, 'S');
}

pid_t child_start(child_fn body, void *arg)
{
	pid_t pid;

	fflush(NULL);
	pid = fork();
	expect(pid >= 0);
	if (pid)
		return pid;
	become_child();
	body(arg);
	_exit(0);
}

int in_child(child_fn body, void *arg)
{
	pid_t pid = child_start(body, arg);
	int status;

	while (waitpid(pid, &status, 0) < 0)
		expect_equal(errno, EINTR);
	return status;
}

void expect_child_at(const char *file, int line, child_fn body, void *arg)
{
	int status = in_child(body, arg);

	if (WIFSIGNALED(status))
		suite_fail(file, line, "the child died from signal %d (%s)", WTERMSIG(status),
			   strsignal(WTERMSIG(status)));
	if (WEXITSTATUS(status))
		suite_fail(file, line, "the child failed with status %d", WEXITSTATUS(status));
}

void expect_killed_at(const char *file, int line, child_fn body, void *arg, int sig)
{
	int status = in_child(body, arg);

	if (!WIFSIGNALED(status))
		suite_fail(file, line, "the child exited with status %d, %s expected",
			   WEXITSTATUS(status), strsignal(sig));
	if (WTERMSIG(status) != sig)
		suite_fail(file, line, "signal %d killed the child, not %d", WTERMSIG(status), sig);
}

static void call_test(void *arg)
{
	const struct test *test = arg;

	test->run();
}

int test_status(const struct test *test)
{
	return in_child(call_test, (void *)test);
}

/* ---- files ---- */

int memory_file(void)
{
	int fd = memfd_create("conformance", MFD_CLOEXEC);

	expect(fd >= 0);
	return fd;
}

int disk_file(void)
{
	const char *directory = getenv("TMPDIR");
	char path[PATH_MAX];
	int fd;

	snprintf(path, sizeof(path), "%s/conformance.XXXXXX", directory ? directory : "/tmp");
	fd = mkostemp(path, O_CLOEXEC);
	if (fd < 0)
		suite_fail(__FILE__, __LINE__, "%s: %s; set TMPDIR", path, strerror(errno));
	unlink(path);
	return fd;
}

int (*const file_kinds[])(void) = { memory_file, disk_file };

const unsigned char *pattern(size_t size)
{
	static unsigned char bytes[1 << 20];
	size_t i;

	expect(size <= sizeof(bytes));
	for (i = 0; !bytes[1] && i < sizeof(bytes); i++)
		bytes[i] = (unsigned char)(i * 2654435761U >> 13 | 1);
	return bytes;
}
