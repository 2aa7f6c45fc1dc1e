// SPDX-License-Identifier: MIT
/* Whole files in, whole files out: nothing is left half written. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "file.h"
#include "memory.h"
#include "messages.h"

static bool is_standard_stream(const char *path)
{
	return !path || !strcmp(path, "-");
}

static int write_all(int fd, const char *bytes, size_t length)
{
	while (length) {
		ssize_t written = write(fd, bytes, length);

		if (written < 0 && errno == EINTR)
			continue;
		if (written < 0)
			return -errno;
		bytes += written;
		length -= written;
	}
	return 0;
}

static int write_in_place(const char *path, const void *bytes, size_t length)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	int error;

	if (fd < 0)
		return -errno;
	error = write_all(fd, bytes, length);
	if (close(fd) && !error)
		error = -errno;
	return error;
}

/* The permissions that creating PATH anew would give, or those it has. */
static mode_t mode_for(const char *path)
{
	struct stat st;
	mode_t mask;

	if (!stat(path, &st))
		return st.st_mode & 07777;
	mask = umask(0);
	umask(mask);
	return 0666 & ~mask;
}

static int write_and_rename(const char *path, char *temporary, const void *bytes, size_t length)
{
	int fd = mkstemp(temporary);
	int error;

	if (fd < 0)
		return -errno;
	if (!bytes) {
		close(fd);
		unlink(temporary);
		return 0;
	}
	error = write_all(fd, bytes, length);
	if (!error && (fchmod(fd, mode_for(path)) || fsync(fd)))
		error = -errno;
	if (close(fd) && !error)
		error = -errno;
	if (!error && rename(temporary, path))
		error = -errno;
	if (error)
		unlink(temporary);
	return error;
}

/* Ctrl-C waits until the file is whole, or gone.  Without BYTES it is only tried out. */
static int replace(const char *path, const void *bytes, size_t length)
{
	char *file = realpath(path, NULL); /* where a symbolic link leads */
	sigset_t all, before;
	char *temporary;
	int error = -ENOMEM;

	if (asprintf(&temporary, "%s.XXXXXX", file ? file : path) >= 0) {
		sigfillset(&all);
		sigprocmask(SIG_BLOCK, &all, &before);
		error = write_and_rename(file ? file : path, temporary, bytes, length);
		sigprocmask(SIG_SETMASK, &before, NULL);
		free(temporary);
	}
	free(file);
	return error;
}

int try_to_write_file(const char *path, const void *bytes, size_t length)
{
	struct stat st;

	if (is_standard_stream(path))
		return write_all(STDOUT_FILENO, bytes, length);
	if (!stat(path, &st) && !S_ISREG(st.st_mode))
		return write_in_place(path, bytes, length);
	return replace(path, bytes, length);
}

int write_file(const char *path, const void *bytes, size_t length)
{
	int error = try_to_write_file(path, bytes, length);

	if (error)
		complain("%s: cannot write: %s",
			 is_standard_stream(path) ? "standard output" : path, strerror(-error));
	return error;
}

int check_writable(const char *path)
{
	struct stat st;
	int error = 0;

	if (is_standard_stream(path))
		return 0;
	if (stat(path, &st) || S_ISREG(st.st_mode))
		error = replace(path, NULL, 0);
	else if (S_ISDIR(st.st_mode))
		error = -EISDIR;
	else if (access(path, W_OK))
		error = -errno;
	if (error)
		complain("%s: cannot write: %s", path, strerror(-error));
	return error;
}

/* Of a file that is read, in bytes: /dev/zero would take all memory. */
#define LONGEST ((size_t)256 << 20)

static int read_all(int fd, char **bytes, size_t *length)
{
	size_t room = 0;

	*bytes = NULL;
	*length = 0;
	for (;;) {
		ssize_t got;

		if (room - *length < 4096) {
			char *larger = realloc(*bytes, room ? room * 2 : 16384);

			if (!larger)
				return -ENOMEM;
			*bytes = larger;
			room = room ? room * 2 : 16384;
		}
		got = read(fd, *bytes + *length, room - *length);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -errno;
		if (!got)
			return 0;
		*length += got;
		if (*length > LONGEST)
			return -EFBIG;
	}
}

const char *display_name(const char *path)
{
	return is_standard_stream(path) ? "standard input" : path;
}

int read_file(const char *path, void **bytes, size_t *length)
{
	int fd = is_standard_stream(path) ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
	char *content = NULL;
	int error;

	error = fd < 0 ? -errno : read_all(fd, &content, length);
	if (fd > STDIN_FILENO)
		close(fd);
	if (error) {
		complain("%s: cannot read: %s", display_name(path), strerror(-error));
		free(content);
		return error;
	}
	*bytes = content;
	return 0;
}

char *line_after(const char *path, const char *start)
{
	FILE *file = fopen(path, "re");
	char *line = NULL, *rest = NULL;
	size_t room = 0;

	while (file && !rest && getline(&line, &room, file) > 0) {
		line[strcspn(line, "\n")] = '\0';
		if (!strncmp(line, start, strlen(start)))
			rest = keep_text("%s", line + strlen(start));
	}
	free(line);
	if (file)
		fclose(file);
	return rest ? rest : keep_text("%s", "");
}

char *first_line(const char *path)
{
	char *line = line_after(path, "");

	return *line ? line : NULL;
}
