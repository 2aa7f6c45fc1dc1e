// SPDX-License-Identifier: MIT
#include "texts.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "hash.h"
#include "shapes.h"

#define PAGE 4096 /* the smallest there is: a read within one succeeds or fails as a whole */

/* A string of another process, up to its NUL; NULL if it is not in its memory. */
static char *read_string(pid_t thread, unsigned long address)
{
	char text[PATH_MAX];
	size_t length = 0;

	while (length < sizeof(text)) {
		size_t room = PAGE - (address + length) % PAGE;
		struct iovec here = { text + length, sizeof(text) - length };
		struct iovec there;

		if (here.iov_len > room)
			here.iov_len = room;
		there = (struct iovec){ (void *)(address + length), here.iov_len };
		if (process_vm_readv(thread, &here, 1, &there, 1, 0) != (ssize_t)here.iov_len)
			return NULL;
		if (memchr(here.iov_base, '\0', here.iov_len))
			return strdup(text);
		length += here.iov_len;
	}
	return NULL;
}

static char *read_link(const char *link)
{
	char target[PATH_MAX];
	const ssize_t length = readlink(link, target, sizeof(target) - 1);

	return length < 0 ? NULL : strndup(target, (size_t)length);
}

static char *read_descriptor(pid_t thread, long descriptor)
{
	char link[64];

	snprintf(link, sizeof(link), "/proc/%d/fd/%ld", thread, descriptor);
	return read_link(link);
}

/* Two files have one name only one after the other. */
static uint64_t identity_of(const char *path)
{
	return path ? hash_text(path, 0) : 0;
}

static uint64_t identity_of_working_directory(pid_t thread)
{
	char link[64], *path;
	uint64_t identity;

	snprintf(link, sizeof(link), "/proc/%d/cwd", thread);
	path = read_link(link);
	identity = identity_of(path);
	free(path);
	return identity;
}

void call_free_texts(struct traced_call *call)
{
	size_t i;

	for (i = 0; i < CALL_PATHS; i++)
		free(call->paths[i]);
	free(call->file);
	free(call->stack);
}

void texts_read(pid_t thread, struct traced_call *call)
{
	const struct call *shape = shape_of(call->nr);
	const int descriptor = first_argument(shape, "d");
	size_t paths = 0;
	int k;

	for (k = 0; kind_of(shape, k) && paths < CALL_PATHS; k++)
		if (kind_of(shape, k) == 'p')
			call->paths[paths++] = read_string(thread, call->args[k]);
	if (descriptor >= 0 && (int)call->args[descriptor] >= 0)
		call->file = read_descriptor(thread, (int)call->args[descriptor]);
	call->file_id = identity_of(call->file);
	if (paths && call->paths[0] && *call->paths[0] != '/')
		call->directory_id =
			call->file ? call->file_id : identity_of_working_directory(thread);
}
