// SPDX-License-Identifier: MIT
#include "real.h"

#include <dlfcn.h>
#include <string.h>

struct real real_functions;
bool real_found;

/* Older conditions of x86-64 are of another type, and dlsym() might prefer them. */
static void *find(const char *name)
{
	if (!strncmp(name, "pthread_cond_", 13) && strcmp(name, "pthread_cond_clockwait") != 0)
		return dlvsym(RTLD_NEXT, name, CONDITION_VERSION);
	return dlsym(RTLD_NEXT, name);
}

void *real_function(const char *name)
{
	void *function = find(name);

	if (!function) {
		fprintf(stderr, "ferry threads: libc has no function %s\n", name);
		abort();
	}
	return function;
}

void real_find(void)
{
/* NOLINTBEGIN(bugprone-macro-parentheses): types and declarations */
#define X(name) real_functions.name = (__typeof__(&name))real_function(#name);
	REAL_FUNCTIONS(X)
#undef X
	/* NOLINTEND(bugprone-macro-parentheses) */
	__atomic_store_n(&real_found, true, __ATOMIC_RELEASE);
}
