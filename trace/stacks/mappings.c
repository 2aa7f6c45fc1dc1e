// SPDX-License-Identifier: MIT
#include "mappings.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <linux/perf_event.h>

#include "common/memory.h"
#include "images.h"

#define RING_SIZE ((size_t)128 << 10) /* bytes, a power of two */

#define RECORD_MAX 4608 /* bytes: a mapping with the longest path, and more than that */

/* One for each CPU. */
struct ring {
	int event; /* a descriptor, or -1: the CPU is off */
	struct perf_event_mmap_page *head;
	const unsigned char *data;
};

static struct {
	struct ring *of;
	long count;
} rings;

/* ---- records ---- */

/* At the end of each, as sample_type says. */
struct when {
	uint32_t process, thread;
	uint64_t ns;
};

struct forked {
	struct perf_event_header header;
	uint32_t process, parent, thread, parent_thread;
	uint64_t ns;
};

struct named {
	struct perf_event_header header;
	uint32_t process, thread;
};

struct mapped {
	struct perf_event_header header;
	uint32_t process, thread;
	uint64_t start, length, offset;
	uint64_t file[3]; /* its device and inode, or build id */
	uint32_t protection, flags;
	char path[];
};

union record {
	struct perf_event_header header;
	struct forked forked;
	struct named named;
	struct mapped mapped;
	unsigned char bytes[RECORD_MAX];
};

static uint64_t time_of(const union record *record)
{
	struct when when;

	memcpy(&when, record->bytes + record->header.size - sizeof(when), sizeof(when));
	return when.ns;
}

static void take_fork(const struct forked *forked)
{
	if (forked->process != forked->parent && images_know((pid_t)forked->parent))
		images_forked((pid_t)forked->parent, (pid_t)forked->process, forked->ns);
}

static void take_mapping(const struct mapped *mapped, uint64_t ns)
{
	images_mapped((pid_t)mapped->process, ns,
		      (struct mapping){ .start = mapped->start,
					.end = mapped->start + mapped->length,
					.offset = mapped->offset,
					.path = mapped->path });
}

static void take(const union record *record)
{
	switch (record->header.type) {
	case PERF_RECORD_FORK:
		take_fork(&record->forked);
		break;
	case PERF_RECORD_COMM:
		if (record->header.misc & PERF_RECORD_MISC_COMM_EXEC &&
		    images_know((pid_t)record->named.process))
			images_executed((pid_t)record->named.process, time_of(record));
		break;
	case PERF_RECORD_MMAP2:
		if (images_know((pid_t)record->mapped.process))
			take_mapping(&record->mapped, time_of(record));
		break;
	default:
		break;
	}
}

/* ---- rings ---- */

static void copy(const struct ring *ring, uint64_t at, void *to, size_t size)
{
	const size_t start = at % RING_SIZE, first = RING_SIZE - start;

	if (size <= first) {
		memcpy(to, ring->data + start, size);
		return;
	}
	memcpy(to, ring->data + start, first);
	memcpy((unsigned char *)to + first, ring->data, size - first);
}

/* Of all rings, since the last time. */
struct heap {
	union record **of;
	size_t count;
};

static void gather(const struct ring *ring, struct heap *heap)
{
	const uint64_t head = __atomic_load_n(&ring->head->data_head, __ATOMIC_ACQUIRE);
	uint64_t tail = ring->head->data_tail;
	struct perf_event_header header;

	for (; tail < head; tail += header.size) {
		copy(ring, tail, &header, sizeof(header));
		if (header.size > RECORD_MAX)
			continue;
		heap->of = reallocate(heap->of, heap->count + 1, sizeof(*heap->of));
		heap->of[heap->count] = allocate(1, RECORD_MAX);
		copy(ring, tail, heap->of[heap->count++], header.size);
	}
	__atomic_store_n(&ring->head->data_tail, tail, __ATOMIC_RELEASE);
}

static int by_time(const void *a, const void *b)
{
	const uint64_t one = time_of(*(union record *const *)a);
	const uint64_t other = time_of(*(union record *const *)b);

	return (one > other) - (one < other);
}

/* In their order: a fork on one CPU makes known what its child does on another. */
void mappings_receive(void)
{
	struct heap heap = { allocate(1, sizeof(*heap.of)), 0 };
	long i;
	size_t k;

	for (i = 0; i < rings.count; i++)
		if (rings.of[i].event >= 0)
			gather(&rings.of[i], &heap);
	if (heap.count)
		qsort(heap.of, heap.count, sizeof(*heap.of), by_time);
	for (k = 0; k < heap.count; k++) {
		take(heap.of[k]);
		free(heap.of[k]);
	}
	free(heap.of);
}

static int open_ring(struct ring *ring, int cpu)
{
	struct perf_event_attr what = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(what),
		.config = PERF_COUNT_SW_DUMMY,
		.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME,
		.sample_id_all = 1,
		.mmap = 1,
		.mmap2 = 1,
		.comm = 1,
		.comm_exec = 1,
		.task = 1,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
	};
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	unsigned char *memory;

	ring->event = (int)syscall(SYS_perf_event_open, &what, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
	if (ring->event < 0)
		return -errno;
	memory = mmap(NULL, page + RING_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, ring->event, 0);
	if (memory == MAP_FAILED)
		return -errno;
	ring->head = (struct perf_event_mmap_page *)memory;
	ring->data = memory + page;
	return 0;
}

static void close_ring(struct ring *ring)
{
	if (ring->head)
		munmap(ring->head, (size_t)sysconf(_SC_PAGESIZE) + RING_SIZE);
	if (ring->event >= 0)
		close(ring->event);
}

int mappings_watch(void)
{
	int error = 0, i;

	rings.count = sysconf(_SC_NPROCESSORS_CONF);
	rings.of = allocate((size_t)rings.count, sizeof(*rings.of));
	for (i = 0; i < rings.count; i++) {
		error = open_ring(&rings.of[i], i);
		if (error && error != -ENODEV)
			break;
	}
	if (!error || error == -ENODEV)
		return 0;
	rings.count = i + 1;
	mappings_end();
	return error;
}

void mappings_end(void)
{
	long i;

	for (i = 0; i < rings.count; i++)
		close_ring(&rings.of[i]);
	free(rings.of);
	rings.of = NULL;
	rings.count = 0;
}
