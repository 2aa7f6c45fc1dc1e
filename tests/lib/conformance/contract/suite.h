/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The basis of the tests of batches: slots, expectations, guarded arrays, children.  The files
 * in this folder know neither which engine runs a batch nor which harness runs the tests, so
 * that ferry's conformance suite and the kernel's selftests share them.  ../way.h has the engine.
 */
#ifndef SUITE_H
#define SUITE_H

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <linux/subcall.h>

#include "../way.h"
#include "ferry/blocked.h"

#ifndef ARRAY_SIZE
#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))
#endif
#define PAGE 4096UL

/* The initial value of rets[]; no call under test returns it. */
#define UNTOUCHED 0x5e5e5e5e5e5e5e5eL

/* ---- tests ---- */

struct test {
	const char *file;
	const char *name;
	void (*run)(void);
	struct test *next;
};

/** A function that is a test; NAME states the rule which it tests. */
#define TEST(name)                                                        \
	static void name(void);                                           \
	static struct test test_##name = { __FILE__, #name, name, NULL }; \
	static void __attribute__((constructor)) add_##name(void)         \
	{                                                                 \
		test_add(&test_##name);                                   \
	}                                                                 \
	static void name(void)

void test_add(struct test *test);

/** The first test of this program. */
const struct test *test_first(void);

/** Runs TEST in a child, so that crashes stay there and engines keep no state: the wait status. */
int test_status(const struct test *test);

/* ---- slots ---- */

/** The slot that calls NUMBER with the given arguments, 0 to 6. */
#define SLOT(number, ...)                                                               \
	((struct batch_slot){ .nr = (short)(number),                                    \
			      .argc = SLOT_PICK(0, ##__VA_ARGS__, 6, 5, 4, 3, 2, 1, 0), \
			      .arg = { SLOT_ARGS(0, ##__VA_ARGS__, 0, 0, 0, 0, 0, 0) } })
#define SLOT_PICK(zero, a, b, c, d, e, f, picked, ...) picked
#define SLOT_ARGS(zero, a, b, c, d, e, f, ...) \
	(long)(a), (long)(b), (long)(c), (long)(d), (long)(e), (long)(f)

#define WORD_COPY(to, from) SLOT(BATCH_WDCPY, to, from)

static inline struct batch_slot jumping(struct batch_slot slot, short fail, short zero, short pos)
{
	slot.jump_fail = fail;
	slot.jump_zero = zero;
	slot.jump_pos = pos;
	return slot;
}

/** SLOT with argument ARG taken from the result D slots earlier. */
static inline struct batch_slot forwarding(struct batch_slot slot, unsigned int arg,
					   unsigned char d)
{
	slot.argc |= BATCH_ARGC_FORWARD;
	slot.from[arg] = d;
	return slot;
}

/** A slot without effect whose result is VALUE, any long but -516 .. -512. */
struct batch_slot result_of(long value);

/** The first word of SLOT: its number and jumps. */
long head_word(struct batch_slot slot);

/* ---- expectations: a failure ends the child, that is, the test ---- */

void suite_fail(const char *file, int line, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/** Skips the test, which cannot run here, for REASON. */
void suite_skip(const char *reason);
#define CHILD_SKIPPED 77 /* the exit status of a child that skipped */

#define expect(condition)                                                                \
	do {                                                                             \
		if (!(condition))                                                        \
			suite_fail(__FILE__, __LINE__, "does not hold: %s", #condition); \
	} while (0)

#define expect_equal(got, want) expect_long(__FILE__, __LINE__, #got, (long)(got), (long)(want))
void expect_long(const char *file, int line, const char *what, long got, long want);

#define expect_bytes(got, want, size) expect_same_bytes(__FILE__, __LINE__, #got, got, want, size)
void expect_same_bytes(const char *file, int line, const char *what, const void *got,
		       const void *want, size_t size);

/* ---- arrays with PROT_NONE pages and guard bytes right before and after ---- */

enum side {
	AT_END,	 /* an inaccessible page follows the last element */
	AT_START /* one precedes the first */
};

struct guarded {
	struct batch_slot *calls; /* all zero at first */
	long *rets;		  /* all UNTOUCHED at first */
	unsigned long ncall;
	enum side side;
};

#define MAX_GUARDED 40000UL

/** Arrays for NCALL slots, up to MAX_GUARDED, valid until the next call; one thread at a time. */
struct guarded guarded_new(unsigned long ncall, enum side side);

/** Fails unless every byte around both arrays has its value from guarded_new(). */
void expect_guards(const char *file, int line, const struct guarded *batch);

/** Fails unless rets[] holds RESULTS, and nothing around it was written. */
#define expect_rets(batch, results) expect_rets_at(__FILE__, __LINE__, batch, results)
void expect_rets_at(const char *file, int line, const struct guarded *batch, const long results[]);

/*
 * Runs calls[] once in guarded arrays.  The batch must return RETURNED, leave RESULTS
 * in rets[] (UNTOUCHED for a slot that does not run), and change no slot.
 */
#define expect_batch(calls, returned, ...)                                              \
	expect_batch_at(__FILE__, __LINE__, AT_END, calls, ARRAY_SIZE(calls), returned, \
			(const long[]){ __VA_ARGS__ },                                  \
			ARRAY_SIZE(((const long[]){ __VA_ARGS__ })))

/* expect_batch() at both ends of the guarded arrays, for programs that can run twice. */
#define expect_pure(calls, returned, ...)                                                         \
	do {                                                                                      \
		expect_batch(calls, returned, __VA_ARGS__);                                       \
		expect_batch_at(__FILE__, __LINE__, AT_START, calls, ARRAY_SIZE(calls), returned, \
				(const long[]){ __VA_ARGS__ },                                    \
				ARRAY_SIZE(((const long[]){ __VA_ARGS__ })));                     \
	} while (0)

void expect_batch_at(const char *file, int line, enum side side, const struct batch_slot calls[],
		     unsigned long ncall, long returned, const long results[],
		     unsigned long nresults);

/** Runs NCALL slots; all must run, in order, each with result WANT[i]. */
#define expect_run(calls, ncall, want) \
	expect_batch_at(__FILE__, __LINE__, AT_END, calls, ncall, -1 + (long)(ncall), want, ncall)

/* ---- repetition ---- */

/** How often tests of what depends on timing repeat: $FERRY_REPEATS, or a few times. */
int repeats(void);

/* ---- children ---- */

typedef void (*child_fn)(void *arg);

/** The state of process PID as ps(1) shows it, or 0 when it is not there. */
char state_of(pid_t pid);

/** Waits until state_of(PID) is STATE; fails if it is not within ten seconds. */
void wait_until_state(pid_t pid, char state);

/** Waits until process PID sleeps; fails if it does not within ten seconds. */
void wait_until_asleep(pid_t pid);

/** Starts BODY in a child with default signal handlers; it then exits with 0.  Returns its pid. */
pid_t child_start(child_fn body, void *arg);

/** Like child_start(), but waits and returns the wait status. */
int in_child(child_fn body, void *arg);

/** Fails unless BODY returns in a child. */
#define expect_child(body, arg) expect_child_at(__FILE__, __LINE__, body, arg)
void expect_child_at(const char *file, int line, child_fn body, void *arg);

/** Fails unless signal SIG kills BODY in a child. */
#define expect_killed(body, arg, sig) expect_killed_at(__FILE__, __LINE__, body, arg, sig)
void expect_killed_at(const char *file, int line, child_fn body, void *arg, int sig);

/* ---- files ---- */

/** A new empty nameless file in memory. */
int memory_file(void);

/** A new empty nameless file in $TMPDIR or /tmp. */
int disk_file(void);

/** The kinds of regular file that file tests run on. */
extern int (*const file_kinds[])(void);
#define FILE_KINDS 2

/** SIZE bytes that differ from place to place; valid for ever. SIZE is at most 1 MiB. */
const unsigned char *pattern(size_t size);

#endif /* SUITE_H */
