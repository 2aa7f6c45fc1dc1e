/* SPDX-License-Identifier: MIT */
/*
 * libferry: build, check and run batches of system calls.  The contract of each function is in
 * its manual page (`man ferry_call`); libferry(3) lists the pages, batch(2) defines a batch.
 *
 * Functions that can fail return -errno.  No function touches errno.  All functions are
 * thread-safe, but only one thread at a time may change a program.
 */
#ifndef FERRY_H
#define FERRY_H

#include <stddef.h>

#include <linux/ferry.h>

#ifndef __LP64__
#error "ferry's slots hold 64-bit words: build for an LP64 ABI"
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---- engines: ways to run a batch; ferry_engine_use(3) ---- */

enum ferry_engine {
	FERRY_AUTO,    /* the engine with the fewest crossings that works here */
	FERRY_LOOP,    /* one system call per slot: any Linux, the reference */
	FERRY_DEVICE,  /* /dev/ferry: one crossing per batch, on a stock kernel with the module */
	FERRY_SYSCALL, /* one crossing per batch, on a kernel with the patch series */
	FERRY_ENGINES
};

/** The engine's name ("loop"), or NULL for a number that is not an engine. */
const char *ferry_engine_name(enum ferry_engine engine);

/** The engine called NAME, or -EINVAL. */
int ferry_engine_by_name(const char *name);

/** One line that describes the engine, or NULL for a number that is not an engine. */
const char *ferry_engine_summary(enum ferry_engine engine);

/** 0 if ENGINE can run batches of the calling thread now, or -errno; *why (or NULL) explains. */
int ferry_engine_probe(enum ferry_engine engine, const char **why);

/** Makes ENGINE the engine of all threads.  Returns as ferry_engine_probe(). */
int ferry_engine_use(enum ferry_engine engine);

/** The engine in use, maybe FERRY_AUTO; -errno if the one in $FERRY_ENGINE cannot be used. */
int ferry_engine_in_use(void);

/** The engine that auto stands for in the calling thread; *why (or NULL) explains. */
enum ferry_engine ferry_engine_auto(const char **why);

/* ---- running; ferry_batch(3) ---- */

/**
 * Runs calls[0 .. ncall - 1] and stores the result of each slot that ran in rets[].  Returns the
 * index of the last slot that ran, or -errno.  For any thread, and signal handlers.
 */
long ferry_batch(long rets[], const struct batch_slot calls[], unsigned long ncall, long flags,
		 long size);

/** ferry_batch() on ENGINE.  FERRY_DEVICE runs the loop if the device cannot be opened. */
long ferry_batch_on(enum ferry_engine engine, long rets[], const struct batch_slot calls[],
		    unsigned long ncall, long flags, long size);

/* ---- building: a program grows slot by slot, with jumps to names ---- */

/** The results after which a jump is taken.  Combine them with |. */
enum ferry_when {
	FERRY_ON_FAIL = 1, /* -4095 .. -1 */
	FERRY_ON_ZERO = 2,
	FERRY_ON_POS = 4, /* any other */
	FERRY_ALWAYS = 7
};

/** The label that follows the last slot of every program: a jump to it ends the batch. */
#define FERRY_END "end"

/** The number of a "go to" slot, which no kernel uses for a call: the slot always fails. */
#define FERRY_NR_GOTO (-1)

/* One thread at a time may change a program, and any number may run it; libferry(3). */
struct ferry_program;

/** A new empty program, or NULL when out of memory.  Free with ferry_program_free(). */
struct ferry_program *ferry_program_new(void);

/** Frees PROGRAM with its slots and labels; NULL is fine. */
void ferry_program_free(struct ferry_program *program);

/** Appends call NR with args[0 .. argc - 1], copied.  Returns the slot's index, or -errno. */
int ferry_add(struct ferry_program *program, long nr, const long args[], unsigned int argc);

/*
 * ferry_call(program, nr, ...) is ferry_add() with the 0 to 6 arguments written
 * out, each an integer or a pointer: ferry_call(p, SYS_close, fd).  It is a macro
 * in C and a template in C++; both are at the end of this file.
 */

/** Appends a word copy, *dst = *src, result 0 or -EFAULT.  Returns as ferry_add(). */
int ferry_copy(struct ferry_program *program, long *dst, const long *src);

/** Appends a slot that jumps to LABEL, which must not have been placed.  Returns as ferry_add(). */
int ferry_goto(struct ferry_program *program, const char *label);

/** Gives the next slot to be appended a name, copied.  Returns 0 or -errno. */
int ferry_label(struct ferry_program *program, const char *label);

/** After the results in WHEN, SLOT jumps to LABEL, which must lie ahead.  Returns 0 or -errno. */
int ferry_jump_to(struct ferry_program *program, int slot, unsigned int when, const char *label);

/** Argument ARG (from 0) of SLOT becomes the result of the earlier slot FROM.  0 or -errno. */
int ferry_forward(struct ferry_program *program, int slot, unsigned int arg, int from);

/** Argument ARG of SLOT becomes values[INDEX] of ferry_run_with().  Returns 0 or -errno. */
int ferry_parameter(struct ferry_program *program, int slot, unsigned int arg, unsigned int index);

/** The number of slots, and of the results that ferry_run() needs room for. */
unsigned long ferry_program_length(const struct ferry_program *program);

/** The slots, to read or change; valid until the next is appended; NULL while a jump waits. */
struct batch_slot *ferry_program_slots(struct ferry_program *program);

/** The label, not placed yet, of the first jump that waits, or NULL; valid while PROGRAM is. */
const char *ferry_program_missing_label(const struct ferry_program *program);

/** ferry_batch() for a program.  RETS has ferry_program_length() elements. */
long ferry_run(const struct ferry_program *program, long rets[]);

/** ferry_run() on a copy of the slots, whose parameters are values[0 .. count - 1]. */
long ferry_run_with(const struct ferry_program *program, const long values[], size_t count,
		    long rets[]);

/* ---- checking; ferry_check(3) ---- */

enum ferry_severity {
	FERRY_WARNING, /* runs, but probably not as meant */
	FERRY_ERROR    /* the slot can only fail */
};

struct ferry_problem {
	unsigned long slot;
	enum ferry_severity severity;
	const char *reason; /* a sentence, constant */
};

/** Stores the first ROOM mistakes in PROBLEMS.  Returns the number of all mistakes, or -errno. */
long ferry_check(const struct batch_slot calls[], unsigned long ncall,
		 struct ferry_problem problems[], size_t room);

/** The reason, constant, why no batch makes call NR, or NULL for a call that batches make. */
const char *ferry_blocked_reason(long nr);

/** The name of the blocked call NR, or NULL. */
const char *ferry_blocked_name(long nr);

/* ---- other calls of the patch series, -ENOSYS on kernels without it; ferry_null(3) ---- */

/** Enters the kernel and does nothing there, as the cheapest crossing.  Returns 0 or -errno. */
long ferry_null(void);

struct kstats; /* see <linux/kstats.h> */

/** Fills the SIZE bytes of STATS with counters of the whole system.  Returns 0 or -errno. */
int ferry_kstats(struct kstats *stats, size_t size);

/** Later faults map up to PAGES pages each, 1 to 512; 0 or 1: off.  Returns 0 or -errno. */
int ferry_multi_page_alloc(long pages);

#ifdef __cplusplus
} /* extern "C" */

template <typename... Args>
inline int ferry_call(struct ferry_program *program, long nr, Args... args)
{
	static_assert(sizeof...(args) <= BATCH_MAX_ARGS, "a call takes at most 6 arguments");
	const long words[] = { (long)args..., 0 };

	return ferry_add(program, nr, words, (unsigned int)sizeof...(args));
}

#else

/* ---- ferry_call() in C: counted, so that each argument can be cast ---- */

#define ferry_call(...) \
	FERRY_CALL(FERRY_COUNT(__VA_ARGS__, 6, 5, 4, 3, 2, 1, 0, few, few), __VA_ARGS__)
#define FERRY_COUNT(program, nr, a, b, c, d, e, f, count, ...) count
#define FERRY_CALL(count, ...) FERRY_CALL_(count, __VA_ARGS__)
#define FERRY_CALL_(count, ...) FERRY_ADD(ferry_takes_##count, FERRY_CALL_##count(__VA_ARGS__))
#define FERRY_ADD(...) FERRY_ADD_(__VA_ARGS__)
#define FERRY_ADD_(argc, program, nr, ...) \
	ferry_add(program, nr, (const long[]){ __VA_ARGS__ }, argc)

/* These identifiers turn a seventh argument, whatever it is, into an error. */
enum {
	ferry_takes_0,
	ferry_takes_1,
	ferry_takes_2,
	ferry_takes_3,
	ferry_takes_4,
	ferry_takes_5,
	ferry_takes_6
};

#define FERRY_CALL_0(p, nr) p, nr, 0
#define FERRY_CALL_1(p, nr, a) p, nr, (long)(a)
#define FERRY_CALL_2(p, nr, a, b) p, nr, (long)(a), (long)(b)
#define FERRY_CALL_3(p, nr, a, b, c) p, nr, (long)(a), (long)(b), (long)(c)
#define FERRY_CALL_4(p, nr, a, b, c, d) p, nr, (long)(a), (long)(b), (long)(c), (long)(d)
#define FERRY_CALL_5(p, nr, a, b, c, d, e) \
	p, nr, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e)
#define FERRY_CALL_6(p, nr, a, b, c, d, e, f) \
	p, nr, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), (long)(f)

#endif /* __cplusplus */

#endif /* FERRY_H */
