/* SPDX-License-Identifier: MIT */
/*
 * libferry: build, check and run batches of system calls.  libferry(3) describes the
 * library, and batch(2) describes what a batch does.
 *
 * Functions that can fail return -errno.  Nothing here touches errno.
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

/* ---- engines: where a batch runs ---- */

enum ferry_engine {
	FERRY_AUTO,    /* the one below with the fewest crossings that is correct here */
	FERRY_LOOP,    /* one system call per slot: any Linux, the reference */
	FERRY_DEVICE,  /* /dev/ferry: one crossing on a stock kernel with the module */
	FERRY_SYSCALL, /* one crossing on a kernel with the patch series */
	FERRY_ENGINES
};

/** The engine's name ("loop"), or NULL for a number that is not an engine. */
const char *ferry_engine_name(enum ferry_engine engine);

/** The number of the engine called NAME, or -EINVAL. */
int ferry_engine_by_name(const char *name);

/** One line on what the engine is and what it gains, or NULL for a number that is not an engine. */
const char *ferry_engine_summary(enum ferry_engine engine);

/**
 * Whether ENGINE can run batches of the calling thread now: 0, or -errno.
 * If WHY is not NULL, *why becomes a sentence that explains the answer (a constant).
 */
int ferry_engine_probe(enum ferry_engine engine, const char **why);

/**
 * Makes ENGINE the one that ferry_batch() and ferry_run() use, in every thread.
 * Returns 0, or the error of ferry_engine_probe() with the choice unchanged.
 *
 * Until it is called, the environment chooses: FERRY_ENGINE names an engine,
 * BATCH_EMUL (set to anything) means the loop, and otherwise it is auto.
 */
int ferry_engine_use(enum ferry_engine engine);

/**
 * The engine in use, which may be FERRY_AUTO.  Returns -EINVAL if the environment's
 * FERRY_ENGINE does not name an engine, and the error of ferry_engine_probe() if that engine
 * is not available.
 */
int ferry_engine_in_use(void);

/**
 * The engine that FERRY_AUTO stands for in the calling thread.  If WHY is not NULL, *why becomes
 * a sentence with the reason (a constant).
 */
enum ferry_engine ferry_engine_auto(const char **why);

/* ---- running ---- */

/**
 * Runs calls[0 .. ncall - 1] on the engine in use and stores the raw result of
 * each slot that ran in rets[0 .. ncall - 1]; results of other slots do not
 * change.  FLAGS is 0, or FERRY_BATCH_QUERY with all else 0; SIZE is 0 or
 * sizeof(struct ferry_slot).
 *
 * Returns the index of the last slot that ran, 0 for an empty batch, or -errno
 * when none could run: -EINVAL for flags, size or ncall, -EFAULT for calls, or
 * the error of ferry_engine_in_use().  Allocates nothing once the thread has run a batch on the
 * engine; any number of threads may call it, and so may a signal handler.
 */
long ferry_batch(long rets[], const struct ferry_slot calls[], unsigned long ncall, long flags,
		 long size);

/**
 * ferry_batch() on ENGINE, regardless of the engine in use.  Where the engine is not available,
 * FERRY_DEVICE runs the loop, and FERRY_SYSCALL fails with the error of ferry_engine_probe().
 */
long ferry_batch_on(enum ferry_engine engine, long rets[], const struct ferry_slot calls[],
		    unsigned long ncall, long flags, long size);

/* ---- building: a program grows slot by slot, with jumps to names ---- */

/** Which results take a jump.  Combine them with |. */
enum ferry_when {
	FERRY_ON_FAIL = 1, /* -4095 .. -1 */
	FERRY_ON_ZERO = 2,
	FERRY_ON_POS = 4, /* any other */
	FERRY_ALWAYS = 7
};

/** The label that follows the last slot of every program: a jump to it ends the batch. */
#define FERRY_END "end"

/**
 * The number of a "go to" slot: -1, which no kernel will ever use for a call, so the slot
 * always fails with -ENOSYS.
 */
#define FERRY_NR_GOTO (-1)

/*
 * One thread at a time may change a program.  Any number of threads may run it at once, each
 * with its own results, unless a word copy in it writes its slots.  A function that fails
 * leaves the program unchanged.  Only ferry_program_free() accepts NULL for it.
 */
struct ferry_program;

/** A new empty program, or NULL when out of memory.  Free with ferry_program_free(). */
struct ferry_program *ferry_program_new(void);

/** Frees PROGRAM with its slots and labels; NULL is fine. */
void ferry_program_free(struct ferry_program *program);

/**
 * Appends call NR with the arguments args[0 .. argc - 1], which are copied; ARGS may be
 * NULL when ARGC is 0.  The slot goes on to the next one after any result.  Returns the
 * slot's index, -EINVAL for a number outside a short's range or argc over 6, or -ENOMEM,
 * also for a program that already has INT_MAX slots.  Memory that the arguments point to
 * belongs to the caller and must stay valid until the program has run.
 */
int ferry_add(struct ferry_program *program, long nr, const long args[], unsigned int argc);

/*
 * ferry_call(program, nr, ...) is ferry_add() with the 0 to 6 arguments written
 * out, each an integer or a pointer: ferry_call(p, SYS_close, fd).  It is a macro
 * in C and a template in C++; both are at the end of this file.
 */

/** Appends a word copy, *dst = *src, result 0 or -EFAULT.  Returns as ferry_add(). */
int ferry_copy(struct ferry_program *program, long *dst, const long *src);

/**
 * Appends a "go to": a slot that always fails and then goes to LABEL, which must not
 * have appeared yet.  Returns as ferry_add() and ferry_jump_to().
 */
int ferry_goto(struct ferry_program *program, const char *label);

/**
 * Gives the next slot to be appended a name.  Jumps that wait for the name then go
 * there.  Returns 0, -EEXIST for a name already used, -EINVAL for an
 * empty one or FERRY_END, -ERANGE when a jump would be longer than 32767 slots, or -ENOMEM.
 * The name is copied.
 */
int ferry_label(struct ferry_program *program, const char *label);

/**
 * Makes SLOT go to LABEL after the results in WHEN, one or more of enum ferry_when;
 * LABEL may come later, and must lie ahead.  It replaces what SLOT did after these
 * results, including a jump that still waits for its label.  Returns 0, -EINVAL for a
 * slot that does not exist, a WHEN that is no result, an empty label or one that does not
 * lie ahead, -ERANGE for a jump longer than 32767 slots, or -ENOMEM.  The name is copied.
 */
int ferry_jump_to(struct ferry_program *program, int slot, unsigned int when, const char *label);

/**
 * Makes argument ARG of SLOT, counted from 0, the result of the earlier slot FROM; the
 * value that SLOT was appended with is then not used.  Returns 0, -EINVAL for a slot that
 * does not exist, an argument it was not appended with or a FROM that is not earlier, or
 * -ERANGE when FROM is more than 255 slots earlier.
 */
int ferry_forward(struct ferry_program *program, int slot, unsigned int arg, int from);

/** The number of slots, which is also how many results ferry_run() needs room for. */
unsigned long ferry_program_length(const struct ferry_program *program);

/**
 * The slots, to read or change, aligned to 64 bytes; valid until the next slot is
 * appended.  NULL only while a jump waits for its label (see ferry_program_missing_label()).
 */
struct ferry_slot *ferry_program_slots(struct ferry_program *program);

/** The label that the first waiting jump waits for, or NULL.  Valid until PROGRAM is freed. */
const char *ferry_program_missing_label(const struct ferry_program *program);

/**
 * Runs PROGRAM on the engine in use and stores the results in RETS, an array of
 * ferry_program_length() longs.  Returns as ferry_batch(), and -EINVAL while a
 * jump waits for its label.
 */
long ferry_run(const struct ferry_program *program, long rets[]);

/**
 * Makes argument ARG of SLOT, counted from 0, the value number INDEX of ferry_run_with().  Returns
 * 0, -EINVAL for a slot that does not exist, an argument it was not appended with or one that is
 * forwarded, or -ENOMEM.  ferry_run() uses the value that the slot was appended with.
 */
int ferry_parameter(struct ferry_program *program, int slot, unsigned int arg, unsigned int index);

/**
 * Runs PROGRAM as ferry_run() does, with values[0 .. count - 1] for its parameters.  A program that
 * is built once can so run with other arguments each time, in any number of threads at once.  It
 * runs a copy of the slots: a word copy that changes the program's slots changes later runs alone.
 *
 * Returns as ferry_run(), and -EINVAL when a parameter has an index of COUNT or more, or -ENOMEM.
 */
long ferry_run_with(const struct ferry_program *program, const long values[], size_t count,
		    long rets[]);

/* ---- checking ---- */

enum ferry_severity {
	FERRY_WARNING, /* runs, but probably not as meant */
	FERRY_ERROR    /* the slot can only fail */
};

struct ferry_problem {
	unsigned long slot;
	enum ferry_severity severity;
	const char *reason; /* a sentence, constant */
};

/**
 * Looks for every mistake that the ABI can express, in the order of the slots:
 * calls that are blocked or cannot exist, argument counts, reserved bytes, forwarding
 * from before the first slot, from a slot that cannot have run or may not have run,
 * or into an argument that the call does not take, slots that nothing reaches, jumps past
 * the end, and word copies with a null pointer.
 *
 * A negative number with no arguments and a jump on failure is a "go to", and no
 * mistake; neither is a number that no kernel has.  Slots are checked as they are now, except
 * for words of later slots that a word copy with a fixed destination may write: nothing that
 * depends on those is reported.  A parameter is checked with the value that its slot has.
 *
 * Stores the first ROOM problems in PROBLEMS and returns how many there are, or
 * -EINVAL for ncall over FERRY_MAX_SLOTS, -EFAULT for calls that are NULL, or -ENOMEM.
 * It runs nothing and takes time proportional to NCALL.
 */
long ferry_check(const struct ferry_slot calls[], unsigned long ncall,
		 struct ferry_problem problems[], size_t room);

/** Why no batch makes call NR, as a constant sentence, or NULL for a call that batches make. */
const char *ferry_blocked_reason(long nr);

/** The name of the blocked call NR, or NULL. */
const char *ferry_blocked_name(long nr);

/* ---- other system calls of the patch series; -ENOSYS on kernels without it ---- */

/** Enters the kernel and does nothing there: the least that a crossing costs.  Returns 0, or
 * -ENOSYS. */
long ferry_null(void);

struct kstats; /* see <linux/ferry_kstats.h> */

/**
 * Fills STATS, SIZE bytes, with counters of the whole system.  SIZE is at least
 * KSTATS_SIZE_VER0; members that the kernel does not know become 0.  Returns 0, -EINVAL for
 * a smaller SIZE, -E2BIG for one above a page, -EFAULT or -ENOSYS.
 */
int ferry_kstats(struct kstats *stats, size_t size);

/**
 * From now on a page fault in anonymous memory of this process maps up to PAGES pages, 1 to 512:
 * the one that was touched and those ahead of it.  1 or 0 turns this off.  It applies to all
 * threads, is inherited by fork() and cleared by exec().  Returns 0, -EINVAL for other numbers, or
 * -ENOSYS.  ferry_prefault_process() of <ferry_prefault.h> works on other kernels too.
 */
int ferry_multi_page_alloc(long pages);

#ifdef __cplusplus
} /* extern "C" */

template <typename... Args>
inline int ferry_call(struct ferry_program *program, long nr, Args... args)
{
	static_assert(sizeof...(args) <= FERRY_MAX_ARGS, "a call takes at most 6 arguments");
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
