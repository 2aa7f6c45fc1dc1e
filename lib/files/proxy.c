// SPDX-License-Identifier: MIT
#include "proxy.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include <ferry/rawcall.h>

#include "clock.h"
#include "pool.h"

/* How often a waiting member checks whether the job has ended. */
#define LOOK_NSEC (50 * NSEC_PER_MSEC)

#define OUTPUT_SIZE ((size_t)64 << 10)

enum state { IDLE, ASKED, ANSWERED, LEFT_BEHIND, DISMISSED };

struct proxy {
	pthread_mutex_t lock;
	pthread_cond_t asked, answered;
	enum state state;
	long nr, args[6], result;
	unsigned int descriptors; /* a bit for each argument that is to be duplicated */
	char names[PROXY_NAMES][PATH_MAX];
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

/*
 * With the lock, when nobody can have left the call behind.  Later the member may close the
 * descriptors, and what the call finds by their numbers would be other files.
 */
static long hold_descriptors(struct proxy *proxy)
{
	long fd;
	int i;

	for (i = 0; i < 6; i++) {
		if (!(proxy->descriptors & 1U << i))
			continue;
		fd = ferry_rawcall(SYS_fcntl, proxy->args[i], F_DUPFD_CLOEXEC, 0, 0, 0, 0);
		if (fd < 0) {
			proxy->descriptors &= (1U << i) - 1;
			return fd;
		}
		proxy->args[i] = fd;
	}
	return 0;
}

static void let_go_of_descriptors(const struct proxy *proxy)
{
	int i;

	for (i = 0; i < 6; i++)
		if (proxy->descriptors & 1U << i)
			ferry_rawcall(SYS_close, proxy->args[i], 0, 0, 0, 0, 0);
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
		result = hold_descriptors(proxy);
		pthread_mutex_unlock(&proxy->lock);
		if (!result)
			result = make_call(proxy);
		let_go_of_descriptors(proxy);
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

	if (!proxy)
		return NULL;
	proxy->state = IDLE;
	pthread_mutex_init(&proxy->lock, NULL);
	pthread_cond_init(&proxy->asked, NULL);
	ferry__condition_init(&proxy->answered);
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

/* Waits for the answer, with the lock held: 0, -ETIMEDOUT or -ECANCELED. */
static long await(struct member *member, struct proxy *proxy)
{
	long deadline = ferry__now() + member->crew->options->timeout_ms * NSEC_PER_MSEC;
	bool stopped;
	long look;

	while (proxy->state != ANSWERED) {
		look = ferry__now() + LOOK_NSEC;
		ferry__wait_until(&proxy->answered, &proxy->lock,
				  look < deadline ? look : deadline);
		if (proxy->state == ANSWERED)
			break;
		if (ferry__now() >= deadline)
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
#ifdef SYS_newfstatat
	if (nr == SYS_newfstatat)
		return true;
#endif
	return nr == SYS_statx || nr == SYS_fstat;
}

static size_t output_size(const struct proxy_call *call)
{
	return call->output_size < OUTPUT_SIZE ? call->output_size : OUTPUT_SIZE;
}

static bool is_name(const struct proxy_call *call, int argument)
{
	return call->names & 1U << argument && call->args[argument];
}

static bool names_fit(const struct proxy_call *call)
{
	int i;

	for (i = 0; i < 6; i++)
		if (is_name(call, i) && strnlen((const char *)call->args[i], PATH_MAX) == PATH_MAX)
			return false;
	return true;
}

static void copy_name(char into[PATH_MAX], const char *name)
{
	size_t length = strnlen(name, PATH_MAX - 1);

	memcpy(into, name, length);
	into[length] = '\0';
}

/*
 * Of calls that could do harm to another file.  Closing a duplicate of a file that is read would
 * tell some file systems.
 */
static unsigned int descriptors_of(const struct proxy_call *call)
{
	unsigned int found = 0;

	if (call->nr == SYS_close || call->nr == SYS_pread64 || call->nr == SYS_fstat)
		return 0;
	if (!(call->names & 1U << 0) && (int)call->args[0] >= 0)
		found |= 1U << 0;
	if (call->nr == SYS_linkat && (int)call->args[2] >= 0)
		found |= 1U << 2;
	return found;
}

static void ask(struct proxy *proxy, const struct proxy_call *call)
{
	int copied = 0, i;

	proxy->nr = call->nr;
	proxy->descriptors = descriptors_of(call);
	memcpy(proxy->args, call->args, sizeof(proxy->args));
	for (i = 0; i < 6; i++)
		if (is_name(call, i)) {
			copy_name(proxy->names[copied], (const char *)call->args[i]);
			proxy->args[i] = (long)proxy->names[copied++];
		}
	if (call->output) {
		proxy->args[call->output] = (long)proxy->output;
		if (!has_fixed_size(call->nr)) /* the size follows the output */
			proxy->args[call->output + 1] = (long)output_size(call);
	}
	proxy->state = ASKED;
	pthread_cond_signal(&proxy->asked);
}

/* A call may return more than it has written: getxattr() without room returns what it needs. */
static size_t written(const struct proxy_call *call, long result)
{
	size_t room = output_size(call);

	return has_fixed_size(call->nr) || (size_t)result > room ? room : (size_t)result;
}

/* The result of the call that has been answered. */
static long take_answer(struct proxy *proxy, const struct proxy_call *call)
{
	long result = proxy->result;

	if (call->output && result >= 0)
		memcpy((void *)call->args[call->output], proxy->output, written(call, result));
	proxy->state = IDLE;
	return result;
}

long ferry__proxy_call(struct member *member, const struct proxy_call *call)
{
	struct proxy *proxy;
	long result;

	if (!names_fit(call))
		return -ENAMETOOLONG;
	if (!member->proxy)
		member->proxy = make_proxy();
	proxy = member->proxy;
	if (!proxy)
		return -EAGAIN;
	pthread_mutex_lock(&proxy->lock);
	ask(proxy, call);
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
