/* SPDX-License-Identifier: MIT */
/*
 * The text form of batch programs, ferry-asm(5): assembling, the object form,
 * disassembling, loading, and the names that tables of results need.
 *
 * An image is immutable once made; any number of threads may use one.
 */
#ifndef TEXT_H
#define TEXT_H

#include <stddef.h>

#include <linux/ferry.h>

struct text_error {
	unsigned int line;   /* from 1; 0 when the error is not about a place in a text */
	unsigned int column; /* in characters, from 1 */
	char message[200];
};

struct image; /* an assembled program */

/**
 * Makes an image of TEXT.  Returns 0 with the image in *OUT, to be freed with
 * image_free(), -EINVAL with *ERROR filled in, or -ENOMEM.
 */
int image_assemble(const char *text, size_t length, struct image **out, struct text_error *error);

/** Makes an image of an object, as image_assemble() does of a text. */
int image_decode(const void *bytes, size_t length, struct image **out, struct text_error *error);

/** image_decode() for what starts with an object's first byte, image_assemble() for the rest. */
int image_read(const void *bytes, size_t length, struct image **out, struct text_error *error);

/** The object form of IMAGE: 0 with the caller's to free() in *BYTES, or -ENOMEM. */
int image_encode(const struct image *image, void **bytes, size_t *length);

/**
 * The text form of IMAGE, which assembles to the same object: 0 with the
 * caller's to free() in *TEXT, ended by a NUL that *LENGTH does not count, or -ENOMEM.
 */
int image_disassemble(const struct image *image, char **text, size_t *length);

/** Frees IMAGE; NULL is fine. */
void image_free(struct image *image);

/* ---- loading ---- */

/** A program ready to run: ferry_batch(rets, slots, ncall, 0, 0). */
struct loaded {
	struct ferry_slot *slots; /* 64-byte aligned */
	long *rets;		  /* ncall zeroes */
	unsigned long ncall;
	const struct image *image; /* must outlive the loaded program */
	void **data;		   /* the address of each data object, 64-byte aligned */
	void *arena;		   /* the memory that data[] points into */
	size_t arena_size;
};

/**
 * Gives the slots, results and data of IMAGE memory of their own and fills in the
 * addresses.  Returns 0, or -ENOMEM with *LOADED empty.  An image may be loaded many times.
 */
int image_load(const struct image *image, struct loaded *loaded);

/**
 * Loads IMAGE with COPIES of its slots, 1 or more, one behind the other, for a batch that runs
 * it as often.  Each copy has results of its own, and all share the data.  A jump out of
 * the program, its end included, leads to the next copy.  Returns as image_load(), and
 * -E2BIG for more than 32767 slots in one copy or 2^20 in all.
 */
int image_load_copies(const struct image *image, size_t copies, struct loaded *loaded);

/** Frees what image_load() or image_load_copies() made; an empty *LOADED is fine. */
void image_unload(struct loaded *loaded);

/* ---- looking at an image ---- */

unsigned long image_slot_count(const struct image *image);

/** The slot, before its addresses are filled in. */
const struct ferry_slot *image_slot(const struct image *image, unsigned long slot);

/** The label nearest before SLOT, or NULL.  SLOT may be the slot count: the place after the last.
 */
const char *image_slot_label(const struct image *image, unsigned long slot);

/** The line that SLOT was written on, or 0 for an image that was decoded. */
unsigned int image_slot_line(const struct image *image, unsigned long slot);

enum data_kind { DATA_STRING, DATA_BYTES, DATA_BUFFER, DATA_WORDS };

struct data_view {
	const char *name;
	enum data_kind kind;
	size_t size; /* in bytes, the NUL of a string included */
};

unsigned long image_data_count(const struct image *image);

/** Data object N; its address in a loaded program is loaded.data[N]. */
struct data_view image_data(const struct image *image, unsigned long n);

/** "string", "bytes", "buffer" or "words". */
const char *data_kind_name(enum data_kind kind);

/* ---- names ---- */

#define CALL_NAME_SIZE 64

/** What call NR is written as: "openat", "copy", "goto", or its number.  Returns NAME. */
const char *call_name(short nr, char name[CALL_NAME_SIZE]);

/** The name of a failure, "ENOENT" for -2, or NULL for any other result. */
const char *errno_name(long error);

#endif /* TEXT_H */
