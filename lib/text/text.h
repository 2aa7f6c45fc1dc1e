/* SPDX-License-Identifier: MIT */
/*
 * The text form of batch programs, ferry-asm(5): assembling, loading, looking for
 * mistakes, and the names that tables of results need.
 *
 * An image is immutable once made; any number of threads may use one.
 */
#ifndef TEXT_H
#define TEXT_H

#include <stdbool.h>
#include <stddef.h>

#include <linux/ferry.h>

/* ---- assembling ---- */

struct text_error {
	unsigned int line;   /* from 1 */
	unsigned int column; /* in characters, from 1 */
	char message[200];
};

#define TEXT_ERRORS_MAX 20

/** The mistakes of a text, in the order of their places. */
struct text_errors {
	size_t count;
	bool more; /* the text has more mistakes than the list has room for */
	struct text_error list[TEXT_ERRORS_MAX];
};

struct image; /* an assembled program */

/**
 * Makes an image of TEXT.  Returns 0 with the image in *OUT, which the caller frees with
 * image_free(); -EINVAL with the mistakes in *ERRORS; or -ENOMEM.
 */
int image_assemble(const char *text, size_t length, struct image **out, struct text_errors *errors);

/** Frees IMAGE; NULL is fine. */
void image_free(struct image *image);

/* ---- loading ---- */

/** A program ready to run: ferry_batch(rets, slots, ncall, 0, 0). */
struct loaded {
	struct batch_slot *slots; /* 64-byte aligned */
	long *rets;		  /* ncall zeroes */
	unsigned long ncall;
	const struct image *image; /* must outlive the loaded program */
	void **data;		   /* the address of each data object, 64-byte aligned */
	void *arena;		   /* the memory that data[] points into */
	size_t arena_size;
};

/**
 * Allocates the slots, results and data of IMAGE and fills in the addresses.  Returns 0, or
 * -ENOMEM with *LOADED empty.  An image may be loaded many times.
 */
int image_load(const struct image *image, struct loaded *loaded);

/**
 * Loads IMAGE with COPIES of its slots, 1 or more, one after the other, for a batch that runs
 * the program that many times.  Each copy has its own results, and all share the data.  A jump
 * out of the program, to its end included, leads to the next copy.  Returns as image_load(), and
 * -E2BIG for more than 32767 slots in one copy or 2^20 in all.
 */
int image_load_copies(const struct image *image, size_t copies, struct loaded *loaded);

/** Frees what image_load() or image_load_copies() allocated; an empty *LOADED is fine. */
void image_unload(struct loaded *loaded);

/* ---- looking at an image ---- */

unsigned long image_slot_count(const struct image *image);

/** The slot, before its addresses are filled in. */
const struct batch_slot *image_slot(const struct image *image, unsigned long slot);

/**
 * Label N of SLOT, counted from 0 in the order they were written, or NULL.  SLOT may be the
 * slot count: the place after the last slot.
 */
const char *image_slot_label(const struct image *image, unsigned long slot, unsigned long n);

/** The line that SLOT was written on. */
unsigned int image_slot_line(const struct image *image, unsigned long slot);

/** Whether SLOT is a goto: it always fails and then jumps. */
bool image_slot_is_goto(const struct image *image, unsigned long slot);

enum data_kind { DATA_STRING, DATA_BYTES, DATA_BUFFER, DATA_WORDS };

struct data_view {
	const char *name;
	enum data_kind kind;
	size_t size; /* in bytes, the NUL of a string included */
};

unsigned long image_data_count(const struct image *image);

/** Data object N; its address in a loaded program is loaded.data[N]. */
struct data_view image_data(const struct image *image, unsigned long n);

/* ---- looking for mistakes ---- */

#define SLOT_WARNINGS_MAX 2

/** What is probably wrong with the arguments of one slot. */
struct slot_warnings {
	size_t count;
	char reason[SLOT_WARNINGS_MAX][200];
};

/**
 * Compares the arguments of SLOT with what its call takes: how many there are, and whether a
 * length given as a number fits the data that it describes.  Calls that are unknown here are
 * not checked.
 */
void image_check_slot(const struct image *image, unsigned long slot,
		      struct slot_warnings *warnings);

/* ---- names ---- */

#define CALL_NAME_SIZE 64

/** How call NR is written: "openat", "copy", "goto", or its number.  Returns NAME. */
const char *call_name(short nr, char name[CALL_NAME_SIZE]);

/** The name of a failure, "ENOENT" for -2, or NULL for any other result. */
const char *errno_name(long error);

#endif /* TEXT_H */
