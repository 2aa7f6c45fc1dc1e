// SPDX-License-Identifier: MIT
#include "room.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>

#include <ferry/rawcall.h>

#define AT_ONCE 512 /* pages that mincore() is asked about */

/* ---- the system ---- */

/* MemAvailable, in bytes; SIZE_MAX if the file does not say it. */
static size_t available(const struct system_files *files)
{
	char path[PATH_MAX], line[128];
	unsigned long long kib = 0;
	bool found = false;
	FILE *file;

	snprintf(path, sizeof(path), "%s/meminfo", files->proc);
	file = fopen(path, "re");
	if (!file)
		return SIZE_MAX;
	/* Others that need memory wait for the answer, too. */
	// NOLINTNEXTLINE(clang-analyzer-unix.BlockInCriticalSection)
	while (!found && fgets(line, sizeof(line), file))
		found = sscanf(line, "MemAvailable: %llu kB", &kib) == 1;
	fclose(file);
	return found ? (size_t)kib << 10 : SIZE_MAX;
}

/* Memory that nothing uses, which takes less time to find out. */
static size_t unused(void)
{
	struct sysinfo info = { 0 };

	if (ferry_rawcall(SYS_sysinfo, (long)&info, 0, 0, 0, 0, 0))
		return 0;
	return info.freeram * info.mem_unit;
}

size_t ferry__memory_left(const struct system_files *files, size_t enough)
{
	size_t groups = ferry__group_room(files, enough), system = unused();

	if (system / 2 < enough)
		system = available(files);
	/* The figure is an estimate, and others need memory meanwhile. */
	if (system != SIZE_MAX)
		system -= system / 16;
	return system < groups ? system : groups;
}

/* ---- pages that take no memory of the system ---- */

/* Pages of hugetlbfs come from a pool of their own. */
static bool is_hugetlb(uintptr_t address)
{
	unsigned long start, end;
	bool here = false, found = false;
	char *line = NULL;
	size_t size = 0;
	FILE *file = fopen("/proc/self/smaps", "re");

	if (!file)
		return false;
	while (!found && getline(&line, &size, file) > 0) {
		if (sscanf(line, "%lx-%lx ", &start, &end) == 2)
			here = address >= start && address < end;
		else if (here && !strncmp(line, "VmFlags:", 8))
			break;
	}
	found = here && line && strstr(line, " ht");
	free(line);
	fclose(file);
	return found;
}

/* The bytes of PAGES that are not in memory; all of them where the kernel does not say. */
static size_t missing(const struct pages *pages)
{
	unsigned char resident[AT_ONCE] = { 0 };
	size_t count = 0, step, i;
	uintptr_t at;

	for (at = pages->start; at < pages->end; at += step * pages->page) {
		step = (pages->end - at) / pages->page;
		if (step > AT_ONCE)
			step = AT_ONCE;
		if (ferry_rawcall(SYS_mincore, (long)at, (long)(step * pages->page), (long)resident,
				  0, 0, 0))
			return ferry__pages_size(pages);
		for (i = 0; i < step; i++)
			count += !(resident[i] & 1);
	}
	return count * pages->page;
}

/* ---- one call ---- */

/* With the page tables for them. */
static size_t with_tables(size_t size)
{
	return size + size / 256;
}

void ferry__room_init(struct room *room, const struct pages *pages, bool limited)
{
	*room = (struct room){ .endless = !limited || !pages->write };
	pthread_mutex_init(&room->lock, NULL);
	if (room->endless)
		return;
	room->left = ferry__memory_left(&SYSTEM_FILES, with_tables(ferry__pages_size(pages)));
	if (room->left < ferry__pages_size(pages))
		room->endless = is_hugetlb(pages->start);
}

void ferry__room_destroy(struct room *room)
{
	pthread_mutex_destroy(&room->lock);
}

/* Pages may be there already, and memory that was short may have been freed. */
static bool take_after_a_look(struct room *room, const struct pages *pages)
{
	size_t needed = with_tables(missing(pages));

	room->left = ferry__memory_left(&SYSTEM_FILES, needed);
	if (room->left < needed)
		return false;
	room->left -= needed;
	return true;
}

bool ferry__room_take(struct room *room, const struct pages *pages)
{
	size_t needed = with_tables(ferry__pages_size(pages));
	bool taken = true;

	if (room->endless)
		return true;
	pthread_mutex_lock(&room->lock);
	if (room->left >= needed)
		room->left -= needed;
	else
		taken = take_after_a_look(room, pages);
	pthread_mutex_unlock(&room->lock);
	return taken;
}
