/* SPDX-License-Identifier: MIT */
/*
 * The object form of an image.  All numbers are little-endian; nothing is padded;
 * an image has exactly one object, and whatever is not that is refused.
 *
 *   header       magic, version, machine, four counts
 *   slots        64 bytes each, laid out as struct ferry_slot; in a word that
 *                becomes an address stands what is added to it
 *   data         kind (1 byte), length of the name (1), name, size when loaded (8),
 *                contents: all of bytes and words, a string without its last NUL,
 *                nothing of a buffer
 *   labels       slot (4), length of the name (1), name; ordered by slot
 *   relocations  holder (1), base (1), index (4), word (4), data object (4);
 *                ordered by holder, index and word, each of which has one at most
 */
#ifndef OBJECT_H
#define OBJECT_H

/* The first byte stands in no text. */
#define OBJECT_MAGIC \
	"\x7f"       \
	"ferry"
#define OBJECT_MAGIC_SIZE 6
#define OBJECT_VERSION 1

/* magic, version (2), machine (4; numbers of calls are the machine's), four counts (4 each) */
#define OBJECT_HEADER_SIZE (OBJECT_MAGIC_SIZE + 2 + 5 * 4)

/* The smallest that one of each can be, to bound the counts by the object's length. */
#define OBJECT_SLOT_SIZE 64
#define OBJECT_DATA_SIZE_MIN (1 + 1 + 1 + 8)
#define OBJECT_LABEL_SIZE_MIN (4 + 1 + 1)
#define OBJECT_RELOCATION_SIZE (1 + 1 + 3 * 4)

#endif /* OBJECT_H */
