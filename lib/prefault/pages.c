// SPDX-License-Identifier: MIT
#include "pages.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include <ferry/rawcall.h>

/* Since Linux 5.14; the libc may be older. */
#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22
#define MADV_POPULATE_WRITE 23
#endif

static long advise(const struct pages *pages, size_t size)
{
	return ferry_rawcall(SYS_madvise, (long)pages->start, (long)size,
			     pages->write ? MADV_POPULATE_WRITE : MADV_POPULATE_READ, 0, 0, 0);
}

bool ferry__can_populate(const struct pages *pages)
{
	/* A kernel refuses advice for 0 bytes only if it does not know the advice. */
	return !advise(pages, 0);
}

int ferry__populate(const struct pages *pages)
{
	long error = advise(pages, ferry__pages_size(pages));

	/* The kernel knows the advice, so the mapping does not allow it. */
	return error == -EINVAL || error == -EPERM ? -EFAULT : (int)error;
}
