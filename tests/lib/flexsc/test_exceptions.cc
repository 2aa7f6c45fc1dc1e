// SPDX-License-Identifier: MIT
/* Exceptions that several user-level threads handle at the same time stay apart. */
#include <cstdio>
#include <exception>

#include <ferry_flexsc.h>

#define THREADS 8
#define ROUNDS 100

/* Each thread rethrows its own number after the others have thrown and caught theirs. */
static long rethrow(long own)
{
	try {
		try {
			throw own;
		} catch (long) {
			ferry_getpid();
			throw;
		}
	} catch (long caught) {
		ferry_thread_yield();
		return caught;
	}
}

struct counts_uncaught {
	int *count;

	~counts_uncaught()
	{
		ferry_getpid();
		*count = std::uncaught_exceptions();
	}
};

/* Unwinding runs a destructor, which waits while the others unwind as well. */
static bool unwinds_alone(void)
{
	int during = -1;

	try {
		[[maybe_unused]] const counts_uncaught guard = { &during };
		throw 1;
	} catch (int) {
		ferry_thread_yield();
	}
	return during == 1 && std::uncaught_exceptions() == 0;
}

static void *throw_often(void *argument)
{
	long own = reinterpret_cast<long>(argument);
	int i;

	for (i = 0; i < ROUNDS; i++)
		if (rethrow(own) != own || !unwinds_alone())
			return reinterpret_cast<void *>(-1L);
	return argument;
}

int main()
{
	ferry_flexsc *flexsc;
	ferry_thread *threads[THREADS];
	void *value;
	long i, wrong = 0;

	if (ferry_flexsc_start(&flexsc, nullptr))
		return 1;
	for (i = 0; i < THREADS; i++)
		ferry_thread_spawn(&threads[i], flexsc, throw_often, reinterpret_cast<void *>(i));
	for (i = 0; i < THREADS; i++) {
		ferry_thread_join(threads[i], &value);
		wrong += value != reinterpret_cast<void *>(i);
	}
	if (wrong)
		printf("%ld threads handled exceptions of others\n", wrong);
	return ferry_flexsc_stop(flexsc) || wrong;
}
