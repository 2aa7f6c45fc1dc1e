// SPDX-License-Identifier: MIT
#include "texts.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

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

static char *read_descriptor(pid_t thread, long descriptor)
{
	char link[64], target[PATH_MAX];
	ssize_t length;

	snprintf(link, sizeof(link), "/proc/%d/fd/%ld", thread, descriptor);
	length = readlink(link, target, sizeof(target) - 1);
	if (length < 0)
		return NULL;
	target[length] = '\0';
	return strdup(target);
}

void texts_read(pid_t thread, struct traced_call *call)
{
	const struct shape *shape = shape_of(call->nr);
	const int path = argument_of_kind(shape, 'p');
	const int descriptor = argument_of_kind(shape, 'd');

	if (path >= 0)
		call->path = read_string(thread, call->args[path]);
	if (descriptor >= 0 && (int)call->args[descriptor] >= 0)
		call->file = read_descriptor(thread, (int)call->args[descriptor]);
}
