// SPDX-License-Identifier: GPL-2.0 OR MIT
/* The batch that many tests run; see workload.h. */
#include <pthread.h>

#include "suite.h"
#include "workload.h"

#define SLOTS 100

bool workload_right(int null)
{
	struct batch_slot calls[SLOTS];
	long rets[SLOTS + 1];
	long results[SLOTS];
	unsigned char byte = 7;
	int i;

	for (i = 0; i < SLOTS; i++) {
		calls[i] = SLOT(SYS_write, null, calls, i);
		results[i] = i;
		rets[i] = UNTOUCHED;
	}
	rets[SLOTS] = UNTOUCHED;
	calls[0] = SLOT(SYS_getpid);
	results[0] = syscall(SYS_getpid);
	calls[40] = SLOT(SYS_getppid);
	results[40] = syscall(SYS_getppid);
	calls[41] = forwarding(SLOT(SYS_write, null, calls, 0), 2, 3);
	results[41] = 38;
	calls[60] = jumping(SLOT(SYS_read, null, &byte, 1), -1, 2, -1);
	results[60] = 0;
	results[61] = UNTOUCHED;
	results[62] = UNTOUCHED;
	return run_batch(rets, calls, SLOTS) == SLOTS - 1 &&
	       !memcmp(rets, results, sizeof(results)) && rets[SLOTS] == UNTOUCHED && byte == 7;
}

void run_writes_on(int null)
{
	expect(workload_right(null));
}

void run_writes(void)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	expect(null >= 0);
	run_writes_on(null);
	close(null);
}

static void *call(void *fn)
{
	child_fn body = *(child_fn *)fn;

	body(NULL);
	return NULL;
}

void in_new_thread(void *arg)
{
	child_fn body = (child_fn)arg;
	pthread_t thread;

	expect(!pthread_create(&thread, NULL, call, &body));
	expect(!pthread_join(thread, NULL));
}

void expect_everywhere(child_fn body)
{
	run_writes();
	expect_child(body, NULL);
	expect_child(in_new_thread, body);
}
