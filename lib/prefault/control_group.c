// SPDX-License-Identifier: MIT
#include "control_group.h"

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Left free in a group: charges that the kernel makes ahead for each CPU, and page tables. */
#define RESERVE ((size_t)4 << 20)

/* ---- files with numbers ---- */

/* The COUNT numbers at the start of DIR/NAME.  A word instead of a number stands for ULLONG_MAX. */
static bool read_numbers(const char *dir, const char *name, unsigned long long numbers[], int count)
{
	char path[PATH_MAX], word[32], *end;
	FILE *file;
	int i;

	if (snprintf(path, sizeof(path), "%s/%s", dir, name) >= (int)sizeof(path))
		return false;
	file = fopen(path, "re");
	if (!file)
		return false;
	for (i = 0; i < count && fscanf(file, "%31s", word) == 1; i++) {
		numbers[i] = strtoull(word, &end, 10);
		if (*end || word[0] == '-')
			numbers[i] = ULLONG_MAX;
	}
	fclose(file);
	return i == count;
}

/* The sum of the lines of DIR/memory.stat that begin with FIRST or SECOND. */
static size_t page_cache(const char *dir, const char *first, const char *second)
{
	char path[PATH_MAX], name[64];
	unsigned long long value;
	size_t sum = 0;
	FILE *file;

	if (snprintf(path, sizeof(path), "%s/memory.stat", dir) >= (int)sizeof(path))
		return 0;
	file = fopen(path, "re");
	if (!file)
		return 0;
	while (fscanf(file, "%63s %llu", name, &value) == 2)
		if (!strcmp(name, first) || !strcmp(name, second))
			sum += value;
	fclose(file);
	return sum;
}

/* ---- one group ---- */

struct limits {
	size_t enough; /* see ferry__group_room() */
	size_t room;
	unsigned int cpus;
};

static void take_memory(struct limits *limits, const char *dir, bool old)
{
	unsigned long long most, used;
	size_t room;

	if (!read_numbers(dir, old ? "memory.limit_in_bytes" : "memory.max", &most, 1) ||
	    most >= (unsigned long long)LLONG_MAX / 2 ||
	    !read_numbers(dir, old ? "memory.usage_in_bytes" : "memory.current", &used, 1))
		return;
	room = used < most ? most - used : 0;
	if (room < limits->enough + RESERVE)
		room += page_cache(dir, old ? "total_inactive_file" : "inactive_file",
				   old ? "total_active_file" : "active_file");
	room = room > RESERVE ? room - RESERVE : 0;
	if (room < limits->room)
		limits->room = room;
}

static void take_cpus(struct limits *limits, const char *dir, bool old)
{
	unsigned long long numbers[2], cpus;

	if (old ? !read_numbers(dir, "cpu.cfs_quota_us", &numbers[0], 1) ||
			    !read_numbers(dir, "cpu.cfs_period_us", &numbers[1], 1) :
		  !read_numbers(dir, "cpu.max", numbers, 2))
		return;
	if (numbers[0] == ULLONG_MAX || !numbers[1])
		return;
	cpus = numbers[0] / numbers[1];
	if (cpus < limits->cpus)
		limits->cpus = cpus ? (unsigned int)cpus : 1;
}

/* ---- all groups, from the innermost to the root ---- */

typedef void take_limits(struct limits *limits, const char *dir, bool old);

/* ROOT is where the hierarchy is mounted, GROUP the path of the innermost group in it. */
static void take_upwards(struct limits *limits, take_limits *take, const char *root,
			 const char *group, bool old)
{
	char dir[PATH_MAX];
	char *slash;

	if (snprintf(dir, sizeof(dir), "%s%s", root, group) >= (int)sizeof(dir))
		return;
	for (;;) {
		take(limits, dir, old);
		slash = strrchr(dir, '/');
		if (!slash || (size_t)(slash - dir) < strlen(root))
			return;
		*slash = '\0';
	}
}

static bool has_word(const char *list, const char *word)
{
	size_t length = strlen(word);

	for (; list; list = strchr(list, ',')) {
		list += *list == ',';
		if (!strncmp(list, word, length) && (list[length] == ',' || !list[length]))
			return true;
	}
	return false;
}

/* LINE is "ID:CONTROLLERS:PATH"; version 2 has no controllers there. */
static void take_line(struct limits *limits, take_limits *take, const struct system_files *files,
		      const char *controller, char *line)
{
	char root[PATH_MAX], *controllers = strchr(line, ':'), *path;

	path = controllers ? strchr(controllers + 1, ':') : NULL;
	if (!path)
		return;
	*path++ = '\0';
	controllers++;
	path[strcspn(path, "\n")] = '\0';
	if (!*controllers) {
		take_upwards(limits, take, files->cgroup, path, false);
	} else if (has_word(controllers, controller)) {
		snprintf(root, sizeof(root), "%s/%s", files->cgroup, controller);
		take_upwards(limits, take, root, path, true);
	}
}

static struct limits limits_of(const struct system_files *files, take_limits *take,
			       const char *controller, size_t enough)
{
	struct limits limits = { enough, SIZE_MAX, UINT_MAX };
	char path[PATH_MAX], *line = NULL;
	size_t room = 0;
	FILE *file;

	snprintf(path, sizeof(path), "%s/self/cgroup", files->proc);
	file = fopen(path, "re");
	if (!file)
		return limits;
	while (getline(&line, &room, file) > 0)
		take_line(&limits, take, files, controller, line);
	free(line);
	fclose(file);
	return limits;
}

size_t ferry__group_room(const struct system_files *files, size_t enough)
{
	return limits_of(files, take_memory, "memory", enough).room;
}

unsigned int ferry__group_cpus(const struct system_files *files)
{
	return limits_of(files, take_cpus, "cpu", 0).cpus;
}
