// SPDX-License-Identifier: MIT
/* Tests the threads of the pool. */
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "lib/files/pool.h"

#define USUAL_STACK ((size_t)6 << 20)

/* A callback of the application may be Python, whose limit for recursions expects such a stack. */
static void use_much_stack(void *argument)
{
	char large[USUAL_STACK];

	memset(large, 1, sizeof(large));
	__asm__ volatile("" ::"r"(large) : "memory");
	sem_post(argument);
}

static void test_a_stack_is_as_large_as_usual(void **state)
{
	sem_t used;

	(void)state;
	assert_int_equal(sem_init(&used, 0, 0), 0);
	assert_true(ferry__pool_run(use_much_stack, NULL, &used));
	assert_int_equal(sem_wait(&used), 0);
	sem_destroy(&used);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_stack_is_as_large_as_usual),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
