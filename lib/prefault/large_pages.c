// SPDX-License-Identifier: MIT
#include "large_pages.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#include <ferry/rawcall.h>

/* Reads a settings file; TEXT is "" if there is none.  Does not change errno. */
static void read_setting(char *text, size_t size, const char *path)
{
	long fd = ferry_rawcall(SYS_openat, AT_FDCWD, (long)path, O_RDONLY | O_CLOEXEC, 0, 0, 0);
	long length = -1;

	if (fd >= 0) {
		length = ferry_rawcall(SYS_read, fd, (long)text, (long)size - 1, 0, 0, 0);
		ferry_rawcall(SYS_close, fd, 0, 0, 0, 0, 0);
	}
	text[length > 0 ? length : 0] = '\0';
}

/* A settings file lists all choices, with the chosen one in brackets. */
static bool chosen(const char *text, const char *what)
{
	char word[16];

	snprintf(word, sizeof(word), "[%s]", what);
	return strstr(text, word) != NULL;
}

/* The setting for pages of SIZE: its own, or the global one if it inherits that. */
static void setting_of(const char *settings, size_t size, char *text, size_t room)
{
	char path[256], largest[32];

	snprintf(path, sizeof(path), "%s/hugepages-%zukB/enabled", settings, size >> 10);
	read_setting(text, room, path);
	if (text[0] && !chosen(text, "inherit"))
		return;
	if (!text[0]) {
		/* Before Linux 6.8 there is one size, and one setting. */
		snprintf(path, sizeof(path), "%s/hpage_pmd_size", settings);
		read_setting(largest, sizeof(largest), path);
		if (strtoul(largest, NULL, 10) != size)
			return;
	}
	snprintf(path, sizeof(path), "%s/enabled", settings);
	read_setting(text, room, path);
}

enum large_pages ferry__large_pages_setting(const char *settings, size_t size)
{
	char text[128];

	setting_of(settings, size, text, sizeof(text));
	if (chosen(text, "always"))
		return LARGE_PAGES_ALWAYS;
	if (chosen(text, "madvise"))
		return LARGE_PAGES_ADVISED;
	return chosen(text, "never") ? LARGE_PAGES_NEVER : NO_LARGE_PAGES;
}

static bool fits(size_t size, uintptr_t start, uintptr_t end)
{
	uintptr_t first = (start + size - 1) & ~(uintptr_t)(size - 1);

	return first >= start && first < end && end - first >= size;
}

size_t ferry__advised_large_page(const char *settings, uintptr_t start, uintptr_t end)
{
	enum large_pages setting;
	size_t size;

	for (size = LARGEST_LARGE_PAGE; size >= SMALLEST_LARGE_PAGE; size >>= 1) {
		if (!fits(size, start, end))
			continue;
		setting = ferry__large_pages_setting(settings, size);
		if (setting >= LARGE_PAGES_ADVISED)
			return setting == LARGE_PAGES_ADVISED ? size : 0;
	}
	return 0;
}
