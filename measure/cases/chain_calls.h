/* SPDX-License-Identifier: MIT */
/* The calls that a program makes for each small file: by a batch, by hand, and by io_uring. */
#ifndef CHAIN_CALLS_H
#define CHAIN_CALLS_H

#include <stdbool.h>

#include <ferry.h>

#define CHAIN_FILE "ferry-bench-chain" /* in the current directory */
#define CHAIN_FILE_SIZE 4096

struct chain;

/* Makes the calls once, on ENGINE where they are a batch.  The bytes of the file, or -errno. */
typedef long chain_function(const struct chain *chain, enum ferry_engine engine);

struct chain {
	const char *calls;
	bool stats; /* asks for the attributes of the file */
	chain_function *by_batch, *by_hand;
	chain_function *by_uring; /* NULL: io_uring lacks one of the calls */
};

extern const struct chain chains[];
extern const size_t chain_count;

/** Why io_uring cannot make the calls here, as a constant sentence, or NULL. */
const char *chain_uring_missing(void);

/** Unmaps what a chain has mapped. */
void chain_unmap(void);

#endif /* CHAIN_CALLS_H */
