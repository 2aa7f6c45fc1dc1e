// SPDX-License-Identifier: MIT
#include "clear_page.h"

#include <string.h>

#if defined(__x86_64__)

#include <cpuid.h>
#include <stdbool.h>

/* Enhanced `rep stosb`, bit 9 of EBX in leaf 7: clear_page() uses it where the CPU has it. */
static bool has_erms(void)
{
	static int known = -1;
	unsigned int eax, ebx, ecx, edx;

	if (known < 0)
		known = __get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) && ebx >> 9 & 1;
	return known;
}

void clear_page(char *page, size_t size)
{
	unsigned long count = size;

	if (has_erms()) {
		__asm__ volatile("rep stosb" : "+D"(page), "+c"(count) : "a"(0) : "memory");
		return;
	}
	count /= sizeof(long);
	__asm__ volatile("rep stosq" : "+D"(page), "+c"(count) : "a"(0L) : "memory");
}

#else

void clear_page(char *page, size_t size)
{
	memset(page, 0, size);
	__asm__ volatile("" : : "r"(page) : "memory");
}

#endif
