/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Settings of the kernel, which are files. */
#ifndef WRITE_FILE_H
#define WRITE_FILE_H

#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

/* Whether the file at PATH took all of TEXT. */
static inline bool write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	bool whole = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);

	if (fd >= 0)
		close(fd);
	return whole;
}

#endif /* WRITE_FILE_H */
