// SPDX-License-Identifier: MIT
/*
 * What batches by `ferry cc` gain: prints, for runs of calls as programs have them, the time of a
 * run as it is written, compiled for batches where none are made, with batches, and with a batch by
 * hand; the least of turns that alternate.  It needs an engine of one crossing.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <ferry.h>
#include <ferry/auto.h>

#define FILE_NAME "file"
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

extern unsigned int ferry_auto_state;

static const int signals[] = { SIGHUP,	SIGINT,	 SIGQUIT, SIGALRM,  SIGTERM, SIGUSR1,
			       SIGUSR2, SIGCHLD, SIGPIPE, SIGWINCH, SIGCONT, SIGTSTP,
			       SIGTTIN, SIGTTOU, SIGURG,  SIGIO };
static struct entry {
	const char *name;
	long mtime, size;
	mode_t mode;
} entries[64];
static char text[4096];
static long sum, changed;

#define RUN(name) name##_plain
#define MARK __attribute__((noinline)) FERRY_NEVER
#include "runs.h"
#undef RUN
#undef MARK
#define RUN(name) name##_auto
#define MARK __attribute__((noinline)) FERRY_INDEPENDENT
#include "runs.h"

/* ---- by hand ---- */

#define FORWARD(count) ((count) | BATCH_ARGC_FORWARD)
#define OPEN(name, flags) .nr = SYS_openat, .argc = 4, .arg = { AT_FDCWD, (long)(name), (flags), 0 }
#define CLOSE(distance) .nr = SYS_close, .argc = FORWARD(1), .from = { distance }

static void map_file_by_hand(void)
{
	struct stat st;
	long rets[5] = { -1, -1, -1, -1, -1 };
	struct batch_slot calls[] = {
		{ OPEN(FILE_NAME, O_RDONLY | O_CLOEXEC), .jump_fail = -1 },
		{ .nr = SYS_fstat,
		  .argc = FORWARD(2),
		  .from = { 1 },
		  .arg = { 0, (long)&st },
		  .jump_fail = 2 },
		{ .nr = BATCH_WDCPY,
		  .argc = 2,
		  .arg = { (long)&calls[3].arg[1], (long)&st.st_size } },
		{ .nr = SYS_mmap,
		  .argc = FORWARD(6),
		  .from = { [4] = 3 },
		  .arg = { 0, 0, PROT_READ, MAP_PRIVATE, 0, 0 } },
		{ CLOSE(4) },
	};

	ferry_batch(rets, calls, COUNT(calls), 0, 0);
	if (rets[3] != -1)
		munmap((void *)rets[3], st.st_size);
}

static void read_file_by_hand(void)
{
	long rets[3];
	const struct batch_slot calls[] = {
		{ OPEN(FILE_NAME, O_RDONLY), .jump_fail = -1 },
		{ .nr = SYS_read,
		  .argc = FORWARD(3),
		  .from = { 1 },
		  .arg = { 0, (long)text, sizeof(text) } },
		{ CLOSE(2) },
	};

	ferry_batch(rets, calls, COUNT(calls), 0, 0);
}

static void listen_by_hand(void)
{
	struct sockaddr_in address = { .sin_family = AF_INET };
	int one = 1;
	long rets[6];
	const struct batch_slot calls[] = {
		{ .nr = SYS_socket,
		  .argc = 3,
		  .arg = { AF_INET, SOCK_STREAM, 0 },
		  .jump_fail = -1 },
		{ .nr = SYS_setsockopt,
		  .argc = FORWARD(5),
		  .from = { 1 },
		  .jump_fail = 3,
		  .arg = { 0, SOL_SOCKET, SO_REUSEADDR, (long)&one, sizeof(one) } },
		{ .nr = SYS_setsockopt,
		  .argc = FORWARD(5),
		  .from = { 2 },
		  .jump_fail = 2,
		  .arg = { 0, SOL_SOCKET, SO_KEEPALIVE, (long)&one, sizeof(one) } },
		{ .nr = SYS_bind,
		  .argc = FORWARD(3),
		  .from = { 3 },
		  .jump_fail = 1,
		  .arg = { 0, (long)&address, sizeof(address) } },
		{ .nr = SYS_listen, .argc = FORWARD(2), .from = { 4 }, .arg = { 0, 16 } },
		{ CLOSE(5) },
	};

	ferry_batch(rets, calls, COUNT(calls), 0, 0);
}

static void reset_signals_by_hand(void)
{
	static const long action[4]; /* the kernel's structure, for SIG_DFL */
	struct batch_slot calls[COUNT(signals)];
	long rets[COUNT(signals)];
	size_t i;

	for (i = 0; i < COUNT(signals); i++)
		calls[i] = (struct batch_slot){ .nr = SYS_rt_sigaction,
						.argc = 4,
						.arg = { signals[i], (long)action, 0, 8 } };
	ferry_batch(rets, calls, COUNT(calls), 0, 0);
	for (i = 0; i < COUNT(signals); i++)
		if (rets[i] < 0)
			errno = (int)-rets[i];
}

static void search_by_hand(void)
{
	long rets[4], last;
	const struct batch_slot calls[] = {
		{ OPEN("none1", O_RDONLY), .jump_zero = -1, .jump_pos = -1 },
		{ OPEN("none2", O_RDONLY), .jump_zero = -1, .jump_pos = -1 },
		{ OPEN("none3", O_RDONLY), .jump_zero = -1, .jump_pos = -1 },
		{ OPEN(FILE_NAME, O_RDONLY) },
	};

	last = ferry_batch(rets, calls, COUNT(calls), 0, 0);
	if (rets[last] >= 0)
		close((int)rets[last]);
}

/* Of all entries, in batches of eight: they stay in the first cache. */
static void lstat_by_hand(void (*use)(const struct entry *entry, long result,
				      const struct stat *st))
{
	enum { EIGHT = 8 };
	struct stat st[EIGHT];
	struct batch_slot calls[EIGHT];
	long rets[EIGHT];
	size_t i, k;

	for (i = 0; i < COUNT(entries); i += EIGHT) {
		for (k = 0; k < EIGHT; k++)
			calls[k] = (struct batch_slot){
				.nr = SYS_newfstatat,
				.argc = 4,
				.arg = { AT_FDCWD, (long)entries[i + k].name, (long)&st[k],
					 AT_SYMLINK_NOFOLLOW },
			};
		ferry_batch(rets, calls, EIGHT, 0, 0);
		for (k = 0; k < EIGHT; k++)
			use(&entries[i + k], rets[k], &st[k]);
	}
}

static void add_size(const struct entry *entry, long result, const struct stat *st)
{
	(void)entry;
	if (!result)
		sum += st->st_size;
}

static void compare(const struct entry *entry, long result, const struct stat *st)
{
	if (result < 0)
		changed += result == -ENOENT;
	else
		changed += st->st_size != entry->size || st->st_mtime != entry->mtime ||
			   st->st_mode != entry->mode;
}

static void sum_sizes_by_hand(void)
{
	lstat_by_hand(add_size);
}

static void refresh_by_hand(void)
{
	lstat_by_hand(compare);
}

/* ---- measuring ---- */

/* Wall time, in ns: the clock of CPU time is coarse in user-mode Linux. */
static double time_of(void (*run)(void), int runs)
{
	struct timespec start, end;
	int i;

	clock_gettime(CLOCK_MONOTONIC, &start);
	for (i = 0; i < runs; i++)
		run();
	clock_gettime(CLOCK_MONOTONIC, &end);
	return ((double)(end.tv_sec - start.tv_sec) * 1e9 + (double)(end.tv_nsec - start.tv_nsec)) /
	       runs;
}

/* In memory: a disk would take most of the time. */
static void make_file(void)
{
	char folder[] = "/dev/shm/ferry-cases-XXXXXX";
	int fd;

	if (!mkdtemp(folder) || chdir(folder))
		exit(1);
	fd = open(FILE_NAME, O_WRONLY | O_CREAT, 0600);
	if (fd < 0 || write(fd, text, sizeof(text)) != sizeof(text) || close(fd))
		exit(1);
}

static void remove_file(void)
{
	char folder[64];

	unlink(FILE_NAME);
	if (getcwd(folder, sizeof(folder)))
		rmdir(folder);
}

int main(int count, char **arguments)
{
	enum { PLAIN, OFF, BATCHED, BY_HAND, WAYS };
#define CASE(name, function, hand)                                               \
	{                                                                        \
		name,                                                            \
		{                                                                \
			function##_plain, function##_auto, function##_auto, hand \
		}                                                                \
	}
	static const struct {
		const char *name;
		void (*run[WAYS])(void);
	} cases[] = {
		CASE("open fstat mmap close, munmap", map_file, map_file_by_hand),
		CASE("open read close", read_file, read_file_by_hand),
		CASE("socket setsockopt setsockopt bind listen close", listen_somewhere,
		     listen_by_hand),
		CASE("16 sigaction", reset_signals, reset_signals_by_hand),
		CASE("3 open that fail, open, close", search, search_by_hand),
		CASE("64 lstat", sum_sizes, sum_sizes_by_hand),
		CASE("64 lstat, compared", refresh, refresh_by_hand),
	};
	const int turns = count > 1 ? atoi(arguments[1]) : 12;
	const int runs = count > 2 ? atoi(arguments[2]) : 200;
	size_t i;
	int turn;

	for (i = 0; i < COUNT(entries); i++)
		entries[i].name = FILE_NAME;
	make_file();
	atexit(remove_file);
	read_file_auto();
	if (ferry_auto_state != FERRY_AUTO_ON) {
		fputs("cases: no batches are made here\n", stderr);
		return 1;
	}
	printf("%9s %9s %9s %9s\n", "plain", "off", "batched", "by hand");
	for (i = 0; i < COUNT(cases); i++) {
		double least[WAYS] = { 1e18, 1e18, 1e18, 1e18 }, now;

		for (turn = 0; turn < WAYS * turns; turn++) {
			const int way = turn % WAYS;

			ferry_auto_state = way == OFF ? FERRY_AUTO_OFF : FERRY_AUTO_ON;
			now = time_of(cases[i].run[way], runs);
			least[way] = now < least[way] ? now : least[way];
		}
		printf("%9.0f %9.0f %9.0f %9.0f  %s\n", least[PLAIN], least[OFF], least[BATCHED],
		       least[BY_HAND], cases[i].name);
	}
	return 0;
}
