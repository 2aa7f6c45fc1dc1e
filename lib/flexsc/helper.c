// SPDX-License-Identifier: MIT
#include "helper.h"

#include <errno.h>
#include <signal.h>

#include <ferry/rawcall.h>

#include "scheduler.h"

#define STACK (64 * 1024)

/* The thread is joined before the helper, or the eventfd, goes away. */
static void *make_call(void *argument)
{
	struct helper *helper = argument;
	const __s64 *arg = helper->arg;
	const __u64 helped = HELPED;

	helper->result = ferry_rawcall(helper->nr, arg[0], arg[1], arg[2], arg[3], arg[4], arg[5]);
	__atomic_store_n(&helper->is_done, true, __ATOMIC_RELEASE);
	ferry_rawcall(SYS_write, helper->eventfd, (long)&helped, sizeof(helped), 0, 0, 0);
	return NULL;
}

int ferry__helper_start(struct scheduler *s, struct helper *helper)
{
	pthread_attr_t attributes;
	sigset_t all, before;
	int error;

	helper->waiter = s->current;
	helper->eventfd = s->bell.eventfd;
	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, STACK);
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	error = pthread_create(&helper->thread, &attributes, make_call, helper);
	if (error == EINVAL) /* the program's thread-local variables leave no room there */
		error = pthread_create(&helper->thread, NULL, make_call, helper);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attributes);
	if (error)
		return -error;
	pthread_setname_np(helper->thread, "ferry-helper");
	helper->next = s->helpers;
	s->helpers = helper;
	s->helper_count++;
	s->poller.waiting++;
	return 0;
}

static void finish(struct scheduler *s, struct helper *helper)
{
	s->helper_count--;
	s->poller.waiting--;
	scheduler_wake(s, helper->waiter);
}

void ferry__helpers_collect(struct scheduler *s)
{
	struct helper **link = &s->helpers, *helper;

	while ((helper = *link)) {
		if (!__atomic_load_n(&helper->is_done, __ATOMIC_ACQUIRE)) {
			link = &helper->next;
			continue;
		}
		*link = helper->next;
		pthread_join(helper->thread, NULL);
		finish(s, helper);
	}
}

void ferry__helpers_cancel(struct scheduler *s)
{
	struct helper *helper;

	while ((helper = s->helpers)) {
		s->helpers = helper->next;
		helper->result = -ECANCELED;
		finish(s, helper);
	}
}
