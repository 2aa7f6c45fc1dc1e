// SPDX-License-Identifier: MIT
#include "confinement.h"

#include <fcntl.h>
#include <linux/kcmp.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef __x86_64__
#include <cpuid.h>
#endif

#include <ferry/rawcall.h>
#include <ferry_flexsc.h>

#include "direct.h"
#include "flexsc.h"

/* ---- comparing threads ---- */

/* More than either file takes, unless a thread is in hundreds of groups. */
#define MAX_TEXT 8192

/* Reads the file NAME in /proc of a thread of this process; the length, or -errno. */
static long read_file(pid_t tid, const char *name, char text[static MAX_TEXT])
{
	char path[64];
	long fd, length;

	snprintf(path, sizeof(path), "/proc/self/task/%d/%s", tid, name);
	fd = ferry_rawcall(SYS_openat, AT_FDCWD, (long)path, O_RDONLY | O_CLOEXEC, 0, 0, 0);
	if (fd < 0)
		return fd;
	length = ferry_rawcall(SYS_read, fd, (long)text, MAX_TEXT - 1, 0, 0, 0);
	ferry_rawcall(SYS_close, fd, 0, 0, 0, 0, 0);
	if (length >= 0)
		text[length] = '\0';
	return length;
}

/* Whether both texts have the same line that begins with NAME, or none. */
static bool same_line(const char *one, const char *other, const char *name)
{
	size_t length;

	one = strstr(one, name);
	other = strstr(other, name);
	if (!one || !other)
		return !one && !other;
	length = strcspn(one + 1, "\n") + 1;
	return !strncmp(one, other, length) && other[length] == one[length];
}

static bool same_status(const char *one, const char *other)
{
	static const char *const names[] = {
		"\nUid:",	 "\nGid:",     "\nGroups:",	     "\nCapInh:",
		"\nCapPrm:",	 "\nCapEff:",  "\nCapBnd:",	     "\nCapAmb:",
		"\nNoNewPrivs:", "\nSeccomp:", "\nSeccomp_filters:",
	};
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!same_line(one, other, names[i]))
			return false;
	return true;
}

/* Whether two threads share WHAT.  A kernel without kcmp() does not say; most threads do. */
static bool share(pid_t one, pid_t other, int what)
{
	return ferry_rawcall(SYS_kcmp, one, other, what, 0, 0, 0) <= 0;
}

static bool same_files(pid_t one, pid_t other)
{
	char(*texts)[MAX_TEXT] = malloc(2 * sizeof(*texts)); /* too much for a small stack */
	bool same = texts && read_file(one, "status", texts[0]) > 0 &&
		    read_file(other, "status", texts[1]) > 0 && same_status(texts[0], texts[1]);

	/* A kernel without cgroups has no such file. */
	if (same && read_file(one, "cgroup", texts[0]) > 0)
		same = read_file(other, "cgroup", texts[1]) > 0 && !strcmp(texts[0], texts[1]);
	free(texts);
	return same;
}

static long io_priority(pid_t tid)
{
	return ferry_rawcall(SYS_ioprio_get, 1 /* IOPRIO_WHO_PROCESS: a thread */, tid, 0, 0, 0, 0);
}

static bool is_like(pid_t runner)
{
	pid_t self = gettid();

	return share(self, runner, KCMP_FILES) && share(self, runner, KCMP_FS) &&
	       io_priority(self) == io_priority(runner) && same_files(self, runner);
}

static pid_t wait_for_id(const struct runner *runner)
{
	pid_t id;

	while (!(id = __atomic_load_n(&runner->tid, __ATOMIC_RELAXED)))
		sched_yield();
	return id;
}

/* ---- the calling thread ---- */

static _Thread_local bool confined;

/* The comparison's latest results, by id of the set of runners. */
#define RESULTS 4
static _Thread_local struct {
	unsigned long id; /* 0: none */
	int limit;
} results[RESULTS];

static int compare(const struct ferry_flexsc *flexsc)
{
	const struct runner *runner = __atomic_load_n(&flexsc->slot[0], __ATOMIC_ACQUIRE);

	/* A forked child has no runner: the poster makes its calls itself. */
	if (!set_is_wiped(runner->set) && !is_like(wait_for_id(runner)))
		return POST_NOTHING;
	return flexsc->place == IN_USER ? ANY_RUNNER : ALIKE_RUNNER;
}

int ferry__posting_limit(const struct ferry_flexsc *flexsc)
{
	unsigned long i = flexsc->id % RESULTS;

	if (confined)
		return POST_NOTHING;
	if (flexsc->trusts)
		return ALIKE_RUNNER;
	if (key_rights() != flexsc->key_rights)
		return POST_NOTHING;
	if (results[i].id != flexsc->id) {
		results[i].limit = compare(flexsc);
		results[i].id = flexsc->id;
	}
	return results[i].limit;
}

void ferry_flexsc_confined(void)
{
	confined = true;
}

/* ---- protection keys ---- */

unsigned char ferry__has_keys;

#define OSPKE (1U << 4) /* of CPUID leaf 7, ecx */

void ferry__look_for_keys(void)
{
#ifdef __x86_64__
	unsigned int a, b, c = 0, d;

	if (__get_cpuid_count(7, 0, &a, &b, &c, &d))
		ferry__has_keys = (c & OSPKE) != 0;
#endif
}
