// SPDX-License-Identifier: MIT
#include "partner.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

static void *send_back(void *context)
{
	const struct partner *partner = context;
	char byte;

	while (read(partner->there[0], &byte, 1) == 1)
		if (write(partner->back[1], &byte, 1) != 1)
			break;
	return NULL;
}

static void close_pipe(const int fds[2])
{
	close(fds[0]);
	close(fds[1]);
}

int partner_start(struct partner *partner)
{
	int error;

	if (pipe2(partner->there, O_CLOEXEC))
		return -errno;
	error = pipe2(partner->back, O_CLOEXEC) ? errno : 0;
	if (!error) {
		error = pthread_create(&partner->thread, NULL, send_back, partner);
		if (error)
			close_pipe(partner->back);
	}
	if (error)
		close_pipe(partner->there);
	return -error;
}

bool partner_take_turn(const struct partner *partner)
{
	char byte = 0;

	return write(partner->there[1], &byte, 1) == 1 && read(partner->back[0], &byte, 1) == 1;
}

void partner_end(struct partner *partner)
{
	close(partner->there[1]); /* it reads the end */
	pthread_join(partner->thread, NULL);
	close(partner->there[0]);
	close_pipe(partner->back);
}
