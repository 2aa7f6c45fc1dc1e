// SPDX-License-Identifier: MIT
/* Thin wrappers of system calls that the patch series adds. */
#include <ferry.h>
#include <ferry/rawcall.h>

long ferry_null(void)
{
	return ferry_rawcall(FERRY_NR_NULL, 0, 0, 0, 0, 0, 0);
}

int ferry_kstats(struct kstats *stats, size_t size)
{
	return (int)ferry_rawcall(FERRY_NR_KSTATS, (long)stats, (long)size, 0, 0, 0, 0);
}

int ferry_multi_page_alloc(long pages)
{
	return (int)ferry_rawcall(FERRY_NR_MULTI_PAGE_ALLOC, pages, 0, 0, 0, 0, 0);
}
