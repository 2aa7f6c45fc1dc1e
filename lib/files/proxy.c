// SPDX-License-Identifier: MIT
#include "proxy.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <ferry/rawcall.h>

#include "pool.h"

#define NSEC_PER_SEC 1000000000L
#define NSEC_PER_MSEC 1000000L

/* How often a waiting member checks whether the job has ended. */
#define LOOK_NSEC (50 * NSEC_PER_MSEC)

#define OUTPUT_SIZE ((size_t)64 << 10)

enum state { IDLE, ASKED, ANSWERED, LEFT_BEHIND, DISMISSED };

struct proxy {
	pthread_mutex_t lock;
	pthread_cond_t asked, answered;
	enum state state;
	long nr, args[6], result;
	char name[PATH_MAX];
	char output[OUTPUT_SIZE];
};

/* ---- the thread ---- */

static void destroy(struct proxy *proxy)
{
	pthread_cond_destroy(&proxy->asked);
	pthread_cond_destroy(&proxy->answered);
	pthread_mutex_destroy(&proxy->lock);
	free(proxy);
}

static bool opens(long nr)
{
	return nr == SYS_openat || nr == SYS_openat2;
}

/*
 * Whether no call is to be made.  The descriptor of one that was left behind before it began may be
 * that of another file by now, except if the call is to close it.
 */
static bool is_over(const struct proxy *proxy)
{
	return proxy->state == DISMISSED || (proxy->state == LEFT_BEHIND && proxy->nr != SYS_close);
}

static long make_call(const struct proxy *proxy)
{
	const long *args = proxy->args;

	return ferry_rawcall(proxy->nr, args[0], args[1], args[2], args[3], args[4], args[5]);
}

static void serve(void *argument)
{
	struct proxy *proxy = argument;
	long result;

	pthread_mutex_lock(&proxy->lock);
	for (;;) {
		while (proxy->state == IDLE || proxy->state == ANSWERED)
			pthread_cond_wait(&proxy->asked, &proxy->lock);
		if (is_over(proxy))
			break;
		pthread_mutex_unlock(&proxy->lock);
		result = make_call(proxy);
		pthread_mutex_lock(&proxy->lock);
		if (proxy->state == LEFT_BEHIND) {
			if (opens(proxy->nr) && result >= 0)
				ferry_rawcall(SYS_close, result, 0, 0, 0, 0, 0);
			break;
		}
		proxy->result = result;
		proxy->state = ANSWERED;
		pthread_cond_signal(&proxy->answered);
	}
	pthread_mutex_unlock(&proxy->lock);
	destroy(proxy);
}

static struct proxy *make_proxy(void)
{
	struct proxy *proxy = malloc(sizeof(*proxy));
	pthread_condattr_t monotonic;

	if (!proxy)
		return NULL;
	proxy->state = IDLE;
	pthread_mutex_init(&proxy->lock, NULL);
	pthread_cond_init(&proxy->asked, NULL);
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&proxy->answered, &monotonic);
	pthread_condattr_destroy(&monotonic);
	if (ferry__pool_run(serve, NULL, proxy))
		return proxy;
	destroy(proxy);
	return NULL;
}

void ferry__proxy_dismiss(struct proxy *proxy)
{
	pthread_mutex_lock(&proxy->lock);
	proxy->state = DISMISSED;
	pthread_cond_signal(&proxy->asked);
	pthread_mutex_unlock(&proxy->lock);
}

/* ---- the member ---- */

static long now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * NSEC_PER_SEC + time.tv_nsec;
}

static void wait_for_answer(struct proxy *proxy, long deadline)
{
	long until = now() + LOOK_NSEC;
	struct timespec time;

	if (until > deadline)
		until = deadline;
	time = (struct timespec){ until / NSEC_PER_SEC, until % NSEC_PER_SEC };
	pthread_cond_timedwait(&proxy->answered, &proxy->lock, &time);
}

/* Waits for the answer, with the lock held: 0, -ETIMEDOUT or -ECANCELED. */
static long await(struct member *member, struct proxy *proxy)
{
	long deadline = now() + member->crew->options->timeout_ms * NSEC_PER_MSEC;
	bool stopped;

	while (proxy->state != ANSWERED) {
		wait_for_answer(proxy, deadline);
		if (proxy->state == ANSWERED)
			break;
		if (now() >= deadline)
			return -ETIMEDOUT;
		/* The progress callback may take long. */
		pthread_mutex_unlock(&proxy->lock);
		stopped = ferry__crew_stopped(member);
		pthread_mutex_lock(&proxy->lock);
		if (stopped && proxy->state != ANSWERED)
			return -ECANCELED;
	}
	return 0;
}

/* Whether the call always fills the whole output. */
static bool has_fixed_size(long nr)
{
	return nr == SYS_statx || nr == SYS_fstat;
}

static size_t output_size(const struct proxy_call *call)
{
	return call->output_size < OUTPUT_SIZE ? call->output_size : OUTPUT_SIZE;
}

static void ask(struct proxy *proxy, const struct proxy_call *call, size_t name_size)
{
	proxy->nr = call->nr;
	memcpy(proxy->args, call->args, sizeof(proxy->args));
	if (call->has_name) {
		memcpy(proxy->name, (const char *)call->args[1], name_size);
		proxy->args[1] = (long)proxy->name;
	}
	if (call->output) {
		proxy->args[call->output] = (long)proxy->output;
		if (!has_fixed_size(call->nr)) /* the size follows the output */
			proxy->args[call->output + 1] = (long)output_size(call);
	}
	proxy->state = ASKED;
	pthread_cond_signal(&proxy->asked);
}

/* The result of the call that has been answered. */
static long take_answer(struct proxy *proxy, const struct proxy_call *call)
{
	long result = proxy->result;
	size_t size = has_fixed_size(call->nr) ? output_size(call) : (size_t)result;

	if (call->output && result >= 0)
		memcpy((void *)call->args[call->output], proxy->output, size);
	proxy->state = IDLE;
	return result;
}

long ferry__proxy_call(struct member *member, const struct proxy_call *call)
{
	size_t name_size = 0;
	struct proxy *proxy;
	long result;

	if (call->has_name)
		name_size = strnlen((const char *)call->args[1], PATH_MAX) + 1;
	if (name_size > PATH_MAX)
		return -ENAMETOOLONG;
	if (!member->proxy)
		member->proxy = make_proxy();
	proxy = member->proxy;
	if (!proxy)
		return -EAGAIN;
	pthread_mutex_lock(&proxy->lock);
	ask(proxy, call, name_size);
	result = await(member, proxy);
	if (result) {
		proxy->state = LEFT_BEHIND;
		member->proxy = NULL;
	} else {
		result = take_answer(proxy, call);
	}
	pthread_mutex_unlock(&proxy->lock);
	return result;
}
