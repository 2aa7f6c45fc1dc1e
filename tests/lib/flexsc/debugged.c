// SPDX-License-Identifier: MIT
/* Three named threads, two of which wait when stop_here() is called by the third. */
#include <stdio.h>

#include <ferry_flexsc.h>

static struct ferry_mutex mutex;

__attribute__((__noinline__)) void stop_here(void)
{
	__asm__ volatile("" ::: "memory");
}

static __attribute__((__noinline__)) void wait_for_mutex(void)
{
	ferry_mutex_lock(&mutex);
	ferry_mutex_unlock(&mutex);
}

static void *waiter_main(void *argument)
{
	wait_for_mutex();
	return argument;
}

static void *stopper_main(void *argument)
{
	stop_here();
	return argument;
}

int main(void)
{
	struct ferry_thread *threads[3];
	struct ferry_flexsc *flexsc;
	char name[FERRY_THREAD_NAME];
	int i;

	if (ferry_flexsc_start(&flexsc, NULL))
		return 1;
	ferry_mutex_lock(&mutex);
	for (i = 0; i < 3; i++) {
		snprintf(name, sizeof(name), "%s %d", i < 2 ? "waiter" : "stopper", i);
		ferry_thread_spawn(&threads[i], flexsc, i < 2 ? waiter_main : stopper_main, NULL);
		ferry_thread_set_name(threads[i], name);
	}
	ferry_thread_yield();
	ferry_mutex_unlock(&mutex);
	for (i = 0; i < 3; i++)
		ferry_thread_join(threads[i], NULL);
	return ferry_flexsc_stop(flexsc) != 0;
}
