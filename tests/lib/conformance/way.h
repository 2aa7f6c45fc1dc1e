/* SPDX-License-Identifier: MIT */
/* How batches are run: by an engine of the library, or otherwise. */
#ifndef WAY_H
#define WAY_H

#include <stdbool.h>
#include <stddef.h>

#include <ferry.h>
#include <ferry/rawcall.h>

/*
 * 1 in a build with ASan and UBSan, whose run-time makes its own mappings and system calls,
 * and turns some faults into its own signal.
 */
#if defined(__SANITIZE_ADDRESS__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SANITIZED 1
#endif
#endif
#ifndef SANITIZED
#define SANITIZED 0
#endif

struct way {
	const char *name;
	enum ferry_engine engine;
	/* Where it is no engine's: as ferry_batch_on() and ferry_engine_probe(). */
	long (*run)(long rets[], const struct batch_slot calls[], unsigned long ncall, long flags,
		    long size);
	int (*probe)(const char **why);
};

/** The way under test. */
extern const struct way *way;

/** The way called NAME, or NULL.  Names are the engines' and "header", <linux/batch.h>. */
const struct way *way_by_name(const char *name);

/** The name of way I, or NULL past the last. */
const char *way_name(size_t i);

/** 0 if the way under test can run batches, else a negative error; *WHY says why. */
int way_probe(const char **why);

/** Runs a batch as batch(2) does, with its flags and its size. */
long way_run(long rets[], const struct batch_slot calls[], unsigned long ncall, long flags,
	     long size);

/** Runs a batch with flags 0 and the size of a slot. */
long run_batch(long rets[], const struct batch_slot calls[], unsigned long ncall);

/** Whether the way under test may raise SIGSEGV if a word copy's pointer is bad. */
bool word_copy_may_fault(void);

#endif /* WAY_H */
