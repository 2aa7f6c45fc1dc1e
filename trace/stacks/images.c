// SPDX-License-Identifier: MIT
#include "images.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../hash.h"
#include "common/memory.h"
#include "common/record.h"

#define PROCESSES (1 << 22)    /* the kernel's PID_MAX_LIMIT */
#define HAPPENED_MAX (1 << 17) /* takes 7 MiB */
#define GENERATIONS_MAX 64     /* of parents: a process that did not execute has few */

enum happened { FORKED, EXECUTED, MAPPED };

struct event {
	uint64_t ns;
	size_t order; /* of those at one moment */
	pid_t process, parent;
	enum happened what;
	struct mapping mapping;
};

static struct {
	struct event *of;
	size_t count, room;
} log;

static unsigned char known[PROCESSES / 8];

static bool has_room(pid_t process)
{
	return process > 0 && process < PROCESSES && log.count < HAPPENED_MAX;
}

bool images_full(void)
{
	return log.count == HAPPENED_MAX;
}

bool images_know(pid_t process)
{
	return process > 0 && process < PROCESSES && known[process / 8] & 1 << process % 8;
}

void images_forget(pid_t process)
{
	if (images_know(process))
		known[process / 8] ^= (unsigned char)(1 << process % 8);
}

static void add(struct event event)
{
	if (!has_room(event.process))
		return;
	known[event.process / 8] |= (unsigned char)(1 << event.process % 8);
	if (log.count == log.room) {
		log.room = log.room ? 2 * log.room : 64;
		log.of = reallocate(log.of, log.room, sizeof(*log.of));
	}
	event.order = log.count;
	log.of[log.count++] = event;
}

/* ---- paths ---- */

/* Few files are mapped by many processes: each is kept once. */
static const char *keep_path(const char *path)
{
	static const char *paths[4096];
	size_t at = hash_text(path, 0) % COUNT_OF(paths), tried;

	for (tried = 0; tried < COUNT_OF(paths) && paths[at]; tried++) {
		if (!strcmp(paths[at], path))
			return paths[at];
		at = (at + 1) % COUNT_OF(paths);
	}
	if (paths[at])
		return ""; /* a file that nobody finds */
	paths[at] = keep_text("%s", path);
	return paths[at];
}

/* ---- what happened ---- */

void images_forked(pid_t parent, pid_t process, uint64_t ns)
{
	add((struct event){ .ns = ns, .process = process, .parent = parent, .what = FORKED });
}

void images_executed(pid_t process, uint64_t ns)
{
	add((struct event){ .ns = ns, .process = process, .what = EXECUTED });
}

void images_mapped(pid_t process, uint64_t ns, struct mapping mapping)
{
	mapping.path = keep_path(mapping.path);
	add((struct event){ .ns = ns, .process = process, .what = MAPPED, .mapping = mapping });
}

void images_read(pid_t process, uint64_t ns)
{
	char name[64], line[4400], path[4200];
	struct mapping mapping;
	char may_execute;
	FILE *maps;

	if (images_know(process))
		return;
	snprintf(name, sizeof(name), "/proc/%d/maps", process);
	maps = fopen(name, "re");
	if (!maps)
		return;
	images_executed(process, ns);
	while (fgets(line, sizeof(line), maps)) {
		if (sscanf(line, "%lx-%lx %*2c%c%*c %lx %*s %*s %4199[^\n]", &mapping.start,
			   &mapping.end, &may_execute, &mapping.offset, path) != 5 ||
		    may_execute != 'x')
			continue;
		mapping.path = path;
		images_mapped(process, ns, mapping);
	}
	fclose(maps);
}

/* ---- at a moment ---- */

static int by_time(const void *a, const void *b)
{
	const struct event *one = a, *other = b;

	if (one->ns != other->ns)
		return one->ns < other->ns ? -1 : 1;
	return (one->order > other->order) - (one->order < other->order);
}

void images_sort(void)
{
	if (log.count)
		qsort(log.of, log.count, sizeof(*log.of), by_time);
}

struct list {
	struct mapping *of;
	size_t count;
};

/* In the place of what was there. */
static void put(struct list *list, struct mapping mapping)
{
	size_t i, kept = 0;

	for (i = 0; i < list->count; i++)
		if (list->of[i].end <= mapping.start || mapping.end <= list->of[i].start)
			list->of[kept++] = list->of[i];
	list->of = reallocate(list->of, kept + 1, sizeof(mapping));
	list->of[kept] = mapping;
	list->count = kept + 1;
}

static struct list list_at(pid_t process, uint64_t ns, int generations)
{
	struct list list = { allocate(1, sizeof(*list.of)), 0 };
	size_t i;

	for (i = 0; i < log.count && log.of[i].ns <= ns; i++) {
		const struct event *event = &log.of[i];

		if (event->process != process)
			continue;
		if (event->what == MAPPED) {
			put(&list, event->mapping);
			continue;
		}
		list.count = 0;
		if (event->what == FORKED && generations < GENERATIONS_MAX) {
			free(list.of);
			list = list_at(event->parent, event->ns, generations + 1);
		}
	}
	return list;
}

struct mapping *images_at(pid_t process, uint64_t ns, size_t *count)
{
	const struct list list = list_at(process, ns, 0);

	*count = list.count;
	return list.of;
}

size_t images_state(pid_t process, uint64_t ns)
{
	size_t i, state = 0;

	for (i = 0; i < log.count && log.of[i].ns <= ns; i++)
		if (log.of[i].process == process)
			state = i + 1;
	return state;
}
