// SPDX-License-Identifier: MIT
/* KCOV's interface, and sets of what it records. */
#include "coverage.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <linux/kcov.h>
#include <linux/magic.h>

#define DEBUGFS "/sys/kernel/debug"
#define WORDS (1UL << 17) /* of a record; what follows is lost */

/* Two places of one file are nearer, and two of different files mostly are not. */
#define FILE_SIZE 32768

/* The first word is the number of those that follow. */
static uint64_t *records[RECORDERS];
static int descriptors[RECORDERS];
static unsigned int opened; /* recorders */

static const char *why_not(void)
{
	static char text[128];
	struct statfs system;

	if (!statfs(DEBUGFS, &system) && system.f_type != DEBUGFS_MAGIC)
		return "debugfs is not mounted: mount -t debugfs debugfs " DEBUGFS;
	if (errno == ENOENT)
		return "the kernel was built without CONFIG_KCOV, which that of the lab's target "
		       "x86-7.3-kcov has";
	snprintf(text, sizeof(text), DEBUGFS "/kcov: %s", strerror(errno));
	return text;
}

const char *coverage_open(void)
{
	unsigned int i;

	for (i = 0; i < RECORDERS; i++) {
		descriptors[i] = open(DEBUGFS "/kcov", O_RDWR | O_CLOEXEC);
		if (descriptors[i] < 0 || ioctl(descriptors[i], KCOV_INIT_TRACE, WORDS))
			return why_not();
		records[i] = mmap(NULL, WORDS * sizeof(uint64_t), PROT_READ | PROT_WRITE,
				  MAP_SHARED, descriptors[i], 0);
		if (records[i] == MAP_FAILED)
			return why_not();
	}
	opened = RECORDERS;
	return NULL;
}

bool coverage_is_open(void)
{
	return opened;
}

void coverage_record(unsigned int i)
{
	if (i >= opened || !ioctl(descriptors[i], KCOV_ENABLE, KCOV_TRACE_PC))
		return;
	perror("KCOV_ENABLE");
	_exit(2);
}

/* Adds WORD to a set of SIZE entries.  True if it was not there. */
static bool add(_Atomic uint64_t set[], unsigned long size, atomic_ulong *count, uint64_t word)
{
	unsigned long at = word * 0x9e3779b97f4a7c15 >> 32, tries;

	for (tries = 0; tries < size; tries++) {
		_Atomic uint64_t *entry = &set[(at + tries) % size];
		uint64_t found = atomic_load_explicit(entry, memory_order_relaxed);

		if (!found && atomic_compare_exchange_strong(entry, &found, word)) {
			atomic_fetch_add(count, 1);
			return true;
		}
		if (found == word)
			return false;
	}
	return false;
}

static bool in_one_file(uint64_t a, uint64_t b)
{
	return a - b + FILE_SIZE < 2 * FILE_SIZE;
}

/* Kernel code is in the last 2 GiB, so the low half of an address identifies it. */
static uint64_t edge(uint64_t from, uint64_t to)
{
	return from << 32 | (to & UINT32_MAX);
}

static void take(struct coverage *all, const uint64_t *record, struct news *news)
{
	uint64_t count = record[0], i;

	for (i = 1; i <= count && i < WORDS; i++) {
		news->places += add(all->places, MOST_PLACES, &all->count, record[i]);
		if (i > 1 && in_one_file(record[i - 1], record[i]))
			news->edges += add(all->edges, MOST_EDGES, &all->edge_count,
					   edge(record[i - 1], record[i]));
	}
}

struct news coverage_take(struct coverage *all)
{
	struct news news = { 0 };
	unsigned int i;

	for (i = 0; i < opened; i++)
		take(all, records[i], &news);
	coverage_drop();
	return news;
}

static void empty(uint64_t *record)
{
	__atomic_store_n(record, 0, __ATOMIC_RELAXED);
}

void coverage_make_room(struct coverage *all, unsigned int i)
{
	struct news news = { 0 };

	if (i >= opened || records[i][0] < WORDS / 2)
		return;
	take(all, records[i], &news);
	empty(records[i]);
}

void coverage_drop(void)
{
	unsigned int i;

	for (i = 0; i < opened; i++)
		empty(records[i]);
}

void coverage_write(const struct coverage *all, FILE *file)
{
	unsigned long i;

	for (i = 0; i < MOST_PLACES; i++)
		if (all->places[i])
			fprintf(file, "%" PRIx64 "\n", (uint64_t)all->places[i]);
}

struct news coverage_read(struct coverage *all, FILE *file)
{
	struct news news = { 0 };
	uint64_t place;

	while (fscanf(file, "%" SCNx64, &place) == 1)
		if (place)
			news.places += add(all->places, MOST_PLACES, &all->count, place);
	return news;
}
