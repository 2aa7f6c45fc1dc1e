// SPDX-License-Identifier: MIT
#include "pagefault_memory.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "common/file.h"

#define PATH 4096

/* The number after KEY in the file PATH, the first one if KEY is empty; SIZE_MAX if none. */
static size_t number_in(const char *path, const char *key)
{
	char line[256];
	const char *number;

	read_line_after(path, key, line, sizeof(line));
	number = strpbrk(line, "0123456789");
	return number ? strtoul(number, NULL, 10) : SIZE_MAX;
}

static void lower(struct memory_room *room, size_t bytes, const char *limit)
{
	if (bytes < room->bytes)
		*room = (struct memory_room){ bytes, limit };
}

/* What is left of LIMIT; SIZE_MAX is no limit. */
static size_t left(size_t limit, size_t used)
{
	if (limit == SIZE_MAX)
		return limit;
	return limit > used ? limit - used : 0;
}

/* ---- the machine ---- */

static size_t kibibytes(const char *key)
{
	size_t number = number_in("/proc/meminfo", key);

	return number == SIZE_MAX ? number : number << 10;
}

static void look_at_machine(struct memory_room *room)
{
	lower(room, kibibytes("MemAvailable:"), "the free memory of this machine");
	if (number_in("/proc/sys/vm/overcommit_memory", "") == 2)
		lower(room, left(kibibytes("CommitLimit:"), kibibytes("Committed_AS:")),
		      "vm.overcommit_memory = 2");
}

/* ---- memory cgroups ---- */

struct cgroups {
	const char *line; /* of /proc/self/cgroup */
	const char *root, *limit, *usage, *cache;
};

static const struct cgroups versions[] = {
	{ "0::", "/sys/fs/cgroup", "memory.max", "memory.current", "inactive_file " },
	{ ":memory:", "/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes",
	  "total_inactive_file " },
};

static size_t file_of_cgroup(const struct cgroups *cgroups, const char *group, const char *name,
			     const char *key)
{
	char path[2 * PATH];

	snprintf(path, sizeof(path), "%s%s/%s", cgroups->root, group, name);
	return number_in(path, key);
}

/* What the kernel can take back from the page cache counts as left. */
static size_t left_in_cgroup(const struct cgroups *cgroups, const char *group)
{
	size_t limit = file_of_cgroup(cgroups, group, cgroups->limit, "");
	size_t used = file_of_cgroup(cgroups, group, cgroups->usage, "");
	size_t cache = file_of_cgroup(cgroups, group, "memory.stat", cgroups->cache);

	if (limit == SIZE_MAX || used == SIZE_MAX)
		return SIZE_MAX;
	return left(limit, cache < used ? used - cache : used);
}

/* The group of this process, and those that hold it. */
static void look_at_cgroups_of(struct memory_room *room, const struct cgroups *cgroups, char *group)
{
	char *end = group + strlen(group);

	for (;;) {
		if (end > group && end[-1] == '/')
			*--end = '\0';
		lower(room, left_in_cgroup(cgroups, group), "the limit of a memory cgroup");
		end = strrchr(group, '/');
		if (!end)
			return;
		*end = '\0';
	}
}

static void look_at_cgroups(struct memory_room *room)
{
	FILE *file = fopen("/proc/self/cgroup", "re");
	char line[PATH];
	size_t i;

	while (file && fgets(line, sizeof(line), file)) {
		line[strcspn(line, "\n")] = '\0';
		for (i = 0; i < sizeof(versions) / sizeof(versions[0]); i++) {
			char *found = strstr(line, versions[i].line);

			if (found)
				look_at_cgroups_of(room, &versions[i],
						   found + strlen(versions[i].line));
		}
	}
	if (file)
		fclose(file);
}

/* ---- the process ---- */

static void look_at_limit(struct memory_room *room, int resource, const char *used,
			  const char *name)
{
	size_t kib = number_in("/proc/self/status", used);
	struct rlimit limit;

	if (getrlimit(resource, &limit) || limit.rlim_cur == RLIM_INFINITY)
		return;
	lower(room, left(limit.rlim_cur, kib == SIZE_MAX ? 0 : kib << 10), name);
}

struct memory_room memory_room(void)
{
	struct memory_room room = { (size_t)1 << 46, "the address space" };

	look_at_machine(&room);
	look_at_cgroups(&room);
	look_at_limit(&room, RLIMIT_AS, "VmSize:", "the limit of the address space (ulimit -v)");
	look_at_limit(&room, RLIMIT_DATA, "VmData:", "the limit of data (ulimit -d)");
	return room;
}
