// SPDX-License-Identifier: MIT
/*
 * Sets of flexsc, as no library makes them: the thread that posted calls serves them itself, so
 * that a program does the same each time; another thread, which may have other rights, posts one,
 * and ends the service.  What a call returns is known.
 */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <linux/flexsc.h>
#include <linux/futex.h>
#include <linux/membarrier.h>
#include <linux/seccomp.h>

#include <ferry/rawcall.h>
#include <linux/ferry.h>

#include "subject.h"
#include "tests/kernel/storm/weather.h"

#define PAGE 4096UL
#define SET_SIZE (16 * PAGE) /* of the memory for the set */
#define MOST_ENTRIES 16	     /* that programs fill */
#define VALUE 4242
#define SERVES 6 /* how often the thread serves after it was interrupted */

static const struct timespec moment = { 0, 100000 };
static struct flexsc_set *set; /* two pages that cannot be accessed surround its memory */
static int memory;	       /* its lseek() returns any value */
static int stop;	       /* a file: FLEXSC_GATE_STOP */
static struct batch_slot batched[2];
static long batch_rets[2];
static struct batch_args batch;

static void begin(const char *directory)
{
	static const unsigned int gate = FLEXSC_GATE_STOP;
	char *map = mmap(NULL, SET_SIZE + 2 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)directory;
	memory = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
	stop = memfd_create("stop", MFD_CLOEXEC);
	if (map == MAP_FAILED || memory < 0 || stop < 0 ||
	    write(stop, &gate, sizeof(gate)) != sizeof(gate))
		err(2, "the set");
	set = (struct flexsc_set *)(map + PAGE);
	if (mprotect(set, SET_SIZE, PROT_READ | PROT_WRITE))
		err(2, "the set");
}

/* ---- entries ---- */

enum call {
	PID,
	USER,
	SEEK,
	ABSENT,
	FORKED,
	SLEEP,
	STOP,
	SIGNAL,
	BATCH,
	ALERT,
	GONE,
	LOCKED,
	CALLS
};

/* A call, and what it returns; ANY for several values. */
#define ANY (-123456L)

struct posted {
	enum call call;
	struct flexsc_entry entry;
	long result;
};

static void set_call(struct posted *posted, short nr, long result, long a, long b, long c, long d)
{
	posted->entry.nr = nr;
	posted->entry.arg[0] = a;
	posted->entry.arg[1] = b;
	posted->entry.arg[2] = c;
	posted->entry.arg[3] = d;
	posted->result = result;
}

static void choose_call(struct posted *posted, struct random *random)
{
	posted->call = (enum call)random_below(random, CALLS);
	switch (posted->call) {
	case USER:
		set_call(posted, SYS_getuid, getuid(), 0, 0, 0, 0);
		break;
	case SEEK:
		set_call(posted, SYS_lseek, VALUE, memory, VALUE, SEEK_SET, 0);
		break;
	case ABSENT:
		set_call(posted, (short)(random_percent(random, 50) ? 511 : -1), -ENOSYS, 0, 0, 0,
			 0);
		break;
	case FORKED:
		set_call(posted, SYS_clone, -ENOSYS, 0, 0, 0, 0);
		break;
	case SLEEP: /* in which the scheduler reports that the runner is blocked */
		set_call(posted, SYS_nanosleep, ANY, (long)&moment, 0, 0, 0);
		break;
	case STOP:
		set_call(posted, SYS_pread64, sizeof(set->gate), stop, (long)&set->gate,
			 sizeof(set->gate), 0);
		break;
	case SIGNAL:
		set_call(posted, SYS_tgkill, 0, getpid(), gettid(),
			 random_percent(random, 50) ? RESTARTING : BREAKING, 0);
		break;
	case BATCH:
		set_call(posted, FERRY_NR_BATCH, 1, (long)&batch, sizeof(batch), 0, 0);
		break;
	case ALERT: /* from now on the runner signals the event when it is blocked */
		set_call(posted, SYS_getrandom, sizeof(set->alert), (long)&set->alert,
			 sizeof(set->alert), 0, 0);
		break;
	case GONE: /* unmaps entries, or all of the set */
		set_call(posted, SYS_munmap, 0,
			 (long)set + (random_percent(random, 30) ? 0 : (long)PAGE), PAGE, 0, 0);
		break;
	case LOCKED: /* until the other thread unlocks it */
		set_call(posted, SYS_mprotect, 0, (long)set, PAGE,
			 random_percent(random, 50) ? PROT_READ : PROT_NONE, 0);
		break;
	case PID:
	default:
		set_call(posted, SYS_getpid, getpid(), 0, 0, 0, 0);
	}
}

static struct posted any_posted(struct random *random, pid_t poster)
{
	static const unsigned char counts[] = { 7, 0x7f, FLEXSC_ARGC_WAITED,
						FLEXSC_ARGC_WAITED | 3 };
	static const pid_t nobody[] = { 0, -1, 1, 999999 };
	struct posted posted = { .entry = { .status = FLEXSC_ENTRY_SUBMITTED, .argc = 4 } };

	choose_call(&posted, random);
	posted.entry.result = poster;
	if (random_percent(random, 8))
		posted.entry.result = PICK(random, nobody);
	if (random_percent(random, 30))
		posted.entry.argc = PICK(random, counts);
	if ((posted.entry.argc & ~FLEXSC_ARGC_WAITED) > BATCH_MAX_ARGS)
		posted.result = -ENOSYS;
	if (random_percent(random, 6))
		posted.entry.begun = (unsigned char)(1 + random_below(random, 2));
	/* No call is there to be restarted. */
	if (posted.entry.begun == FLEXSC_BEGUN_RESTART)
		posted.result = ANY;
	return posted;
}

/* ---- the set ---- */

static void fill_header(struct random *random)
{
	static const unsigned int counts[] = {
		1, 2, 16, 128, 512, 0, 3, FLEXSC_MAX_ENTRIES, 2 * FLEXSC_MAX_ENTRIES
	};
	static const __u64 spins[] = { 0, 1, 20000, 200000, -1UL };

	memset(set, 0, SET_SIZE);
	set->version = random_percent(random, 97) ? FLEXSC_VERSION : 1;
	set->count = random_percent(random, 80) ? MOST_ENTRIES : PICK(random, counts);
	set->flags = (unsigned int)random_below(random, random_percent(random, 95) ? 4 : 8);
	set->spin_ns = random_percent(random, 60) ? 20000 : PICK(random, spins);
	set->gate = random_percent(random, 90) ? FLEXSC_GATE_OPEN :
						 (unsigned int)random_below(random, 4);
	set->alert = random_percent(random, 30);
	set->eventfd = -1;
	if (random_percent(random, 50))
		set->eventfd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	if (random_percent(random, 5))
		set->eventfd = random_percent(random, 50) ? memory : 999;
}

static void fill_batch(void)
{
	static const struct batch_slot pid = { .nr = SYS_getpid };

	batched[0] = pid;
	batched[1] = pid;
	batch = (struct batch_args){ .rets = (__u64)batch_rets,
				     .calls = (__u64)batched,
				     .ncall = 2 };
}

/* ---- the other thread ---- */

/* How it differs from the runner; its calls may have to be refused. */
enum trait {
	NONE,
	FILES,
	DIRECTORY,
	USERS,
	FILTER,
	PRIVILEGES,
	PERSONALITY,
	IO,
	NAMESPACE,
	WATCHED,
	KEYS,
	ENDS,
	TRAITS
};

struct other {
	enum trait trait;
	struct posted posted;
	unsigned int at, delay_us;
	bool early; /* it changes before the runner serves */
	atomic_int is_ready, is_gone;
	_Atomic pid_t tid;
};

static void change(enum trait trait)
{
	static char may_pass = SYSCALL_DISPATCH_FILTER_ALLOW;

	switch (trait) {
	case FILES:
		unshare(CLONE_FILES);
		break;
	case DIRECTORY:
		unshare(CLONE_FS);
		break;
	case USERS:
		syscall(SYS_setresuid, -1, 1000, -1);
		break;
	case FILTER:
		weather_filter(SECCOMP_RET_ALLOW, 0);
		break;
	case PRIVILEGES:
		prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
		break;
	case PERSONALITY:
		personality(ADDR_NO_RANDOMIZE);
		break;
	case IO:
		syscall(SYS_ioprio_set, 1, 0, 3 << 13);
		break;
	case NAMESPACE:
		unshare(CLONE_NEWUTS);
		break;
	case WATCHED:
		prctl(PR_SET_SYSCALL_USER_DISPATCH, PR_SYS_DISPATCH_ON, 0, 0, &may_pass);
		break;
	case KEYS:
		syscall(SYS_pkey_alloc, 0, 0);
		break;
	default:
		break;
	}
}

static void post(const struct posted *posted, unsigned int at)
{
	struct flexsc_entry *entry = &set->entry[at];
	struct flexsc_entry filled = posted->entry;

	filled.status = FLEXSC_ENTRY_FREE;
	*entry = filled;
	__atomic_store_n(&entry->status, FLEXSC_ENTRY_SUBMITTED, __ATOMIC_RELEASE);
}

static void wake(void)
{
	ferry_rawcall(SYS_futex, (long)&set->runner, FUTEX_WAKE | FUTEX_PRIVATE_FLAG, 1, 0, 0, 0);
}

/*
 * The kernel writes through the set's own addresses here, because the set may be unmapped:
 * a thread that touched it would die.
 */
static void end_service(void)
{
	mprotect(set, SET_SIZE, PROT_READ | PROT_WRITE);
	pread(stop, &set->gate, sizeof(set->gate), 0);
	wake();
}

static void *be_other(void *arg)
{
	struct other *other = arg;

	coverage_record(1);
	atomic_store(&other->tid, gettid());
	if (other->early)
		change(other->trait);
	atomic_store(&other->is_ready, 1);
	usleep(other->delay_us);
	if (!other->early)
		change(other->trait);
	if (other->trait == ENDS)
		return NULL;
	while (!atomic_load(&other->is_gone)) {
		end_service();
		usleep(1000);
	}
	return NULL;
}

/* ---- a program ---- */

static bool is_allowed(long left)
{
	switch (left) {
	case 0:
	case -EOPNOTSUPP:
	case -EINTR:
	case -EPERM:
	case -EINVAL:
	case -EBADF:
	case -EFAULT:
		return true;
	default:
		return false;
	}
}

/* The calls that ended have the results that they have elsewhere. */
static bool check(const struct posted all[], const unsigned char is_there[], FILE *why)
{
	unsigned int i;

	for (i = 0; i < MOST_ENTRIES; i++) {
		const struct flexsc_entry *entry = &set->entry[i];

		if (!is_there[i] || entry->status != FLEXSC_ENTRY_DONE || all[i].result == ANY ||
		    entry->result == all[i].result)
			continue;
		fprintf(why, "entry %u, call %d: the result is %lld, not %ld\n", i, entry->nr,
			(long long)entry->result, all[i].result);
		return false;
	}
	return true;
}

static bool is_mapped(void)
{
	unsigned char pages[SET_SIZE / PAGE];

	return !mincore(set, SET_SIZE, pages);
}

static long serve(struct random *random)
{
	static const size_t sizes[] = { 0, sizeof(struct flexsc_set), SET_SIZE, -1UL };
	char *where = (char *)set;
	long left = 0;
	int i;

	if (random_percent(random, 6)) {
		where = random_percent(random, 50) ? where + 8 : where - PAGE;
	} else if (random_percent(random, 6)) {
		/* Its second line, or its entries, are beyond its memory. */
		where += SET_SIZE - (random_percent(random, 50) ? 64 : 128);
		memcpy(where, set, 64);
	}
	if (random_percent(random, 20))
		ferry_rawcall(FERRY_NR_FLEXSC_REGISTER, 0, 0, 0, 0, 0, 0);
	ferry_rawcall(FERRY_NR_FLEXSC_REGISTER, (long)where, (long)PICK(random, sizes), 0, 0, 0, 0);
	for (i = 0; i < SERVES; i++) {
		left = ferry_rawcall(FERRY_NR_FLEXSC_SERVE, (long)where, 0, 0, 0, 0, 0);
		if (left != -EINTR && left != -EOPNOTSUPP)
			break;
	}
	return left;
}

static bool run(struct random *random, FILE *why)
{
	static struct posted all[MOST_ENTRIES];
	static unsigned char is_there[MOST_ENTRIES];
	static struct other other;
	pthread_t thread;
	unsigned int i, filled = (unsigned int)random_below(random, MOST_ENTRIES + 1);
	bool watched = random_percent(random, 10), is_disturbed = random_percent(random, 40);
	long left;

	weather_prepare();
	if (random_percent(random, 95))
		syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0);
	fill_header(random);
	fill_batch();
	other.trait = (enum trait)random_below(random, TRAITS);
	other.early = random_percent(random, 80);
	other.delay_us = (unsigned int)random_below(random, 2000);
	if (pthread_create(&thread, NULL, be_other, &other))
		return false;
	while (!atomic_load(&other.is_ready))
		usleep(50);
	for (i = 0; i < filled; i++) {
		unsigned int at = (unsigned int)random_below(random, MOST_ENTRIES);
		bool by_other = random_percent(random, 25);

		all[at] = any_posted(random, by_other ? atomic_load(&other.tid) : gettid());
		is_there[at] = true;
		post(&all[at], at);
	}
	/* Without the other thread, an entry has to end the service. */
	if (other.trait == ENDS)
		end_service();
	if (watched)
		weather_filter(SECCOMP_RET_ALLOW, 0);
	if (is_disturbed)
		weather_start_timer(random);
	left = serve(random);
	atomic_store(&other.is_gone, 1);
	pthread_join(thread, NULL);
	if (!is_allowed(left)) {
		fprintf(why, "flexsc_serve() returned %ld\n", left);
		return false;
	}
	mprotect(set, SET_SIZE, PROT_READ | PROT_WRITE);
	return !is_mapped() || check(all, is_there, why);
}

const struct subject sets = { .name = "sets", .begin = begin, .run = run, .forks = true };
