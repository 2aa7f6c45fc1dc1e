// SPDX-License-Identifier: MIT
#include "pagefault_memory.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "common/file.h"
#include "common/memory.h"
#include "common/record.h"

#define PATH 4096
#define UNKNOWN SIZE_MAX

/* The bytes, perhaps given in kB, after KEY in the file PATH; UNKNOWN if a number is missing. */
static size_t bytes_in(const char *path, const char *key)
{
	const char *number = strpbrk(line_after(path, key), "0123456789");
	size_t bytes;
	char *end;

	if (!number)
		return UNKNOWN;
	bytes = strtoul(number, &end, 10);
	return strncmp(end, " kB", 3) ? bytes : bytes << 10;
}

/* Notes what is left of a limit, if that is known. */
static void lower(struct memory_room *room, size_t limit, size_t used, const char *name)
{
	size_t taken = used == UNKNOWN ? 0 : used, left = limit > taken ? limit - taken : 0;

	if (limit != UNKNOWN && left < room->bytes)
		*room = (struct memory_room){ left, name };
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
	return bytes_in(keep_text("%s%s/%s", cgroups->root, group, name), key);
}

/* What the kernel can take back from the page cache counts as left. */
static void look_at_cgroup(struct memory_room *room, const struct cgroups *cgroups,
			   const char *group)
{
	size_t limit = file_of_cgroup(cgroups, group, cgroups->limit, "");
	size_t used = file_of_cgroup(cgroups, group, cgroups->usage, "");
	size_t cache = file_of_cgroup(cgroups, group, "memory.stat", cgroups->cache);

	if (used != UNKNOWN)
		lower(room, limit, cache < used ? used - cache : used,
		      "the limit of a memory cgroup");
}

/* The group of this process, and the groups that hold it. */
static void look_at_cgroups(struct memory_room *room, const struct cgroups *cgroups)
{
	FILE *file = fopen("/proc/self/cgroup", "re");
	char line[PATH], *group, *end;

	while (file && fgets(line, sizeof(line), file)) {
		line[strcspn(line, "\n")] = '\0';
		group = strstr(line, cgroups->line);
		if (!group)
			continue;
		group += strlen(cgroups->line);
		if (!strcmp(group, "/"))
			*group = '\0';
		look_at_cgroup(room, cgroups, group);
		while ((end = strrchr(group, '/'))) {
			*end = '\0';
			look_at_cgroup(room, cgroups, group);
		}
	}
	if (file)
		fclose(file);
}

/* ---- all of it ---- */

/* Not from /proc, which may be missing. */
static size_t limit_of(int resource)
{
	struct rlimit limit;

	if (getrlimit(resource, &limit) || limit.rlim_cur == RLIM_INFINITY)
		return UNKNOWN;
	return limit.rlim_cur;
}

struct memory_room memory_room(void)
{
	static const char machine[] = "/proc/meminfo", process[] = "/proc/self/status";
	struct memory_room room = { (size_t)1 << 46, "the address space" };
	size_t i;

	lower(&room, bytes_in(machine, "MemAvailable:"), 0, "the free memory of this machine");
	if (bytes_in("/proc/sys/vm/overcommit_memory", "") == 2)
		lower(&room, bytes_in(machine, "CommitLimit:"), bytes_in(machine, "Committed_AS:"),
		      "vm.overcommit_memory = 2");
	for (i = 0; i < COUNT_OF(versions); i++)
		look_at_cgroups(&room, &versions[i]);
	lower(&room, limit_of(RLIMIT_AS), bytes_in(process, "VmSize:"),
	      "the limit of the address space (ulimit -v)");
	lower(&room, limit_of(RLIMIT_DATA), bytes_in(process, "VmData:"),
	      "the limit of data (ulimit -d)");
	return room;
}
