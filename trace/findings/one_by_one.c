// SPDX-License-Identifier: MIT
/* A client that uses one connection after the other, and waits in each for its answer. */
#include <errno.h>
#include <math.h>
#include <string.h>
#include <sys/syscall.h>

#include "../shapes.h"
#include "common/memory.h"
#include "waits.h"

#define OFTEN 8	  /* connections */
#define AT_ONCE 8 /* that the cure would use */

static bool connects(const struct traced_call *call)
{
	return call->nr == SYS_connect && (!call->result || call->result == -EINPROGRESS);
}

static bool is_on(const struct traced_call *call, int descriptor)
{
	const int k = first_argument(shape_of(call->nr), "d");

	return k >= 0 && (int)call->args[k] == descriptor;
}

/* poll(), select() and epoll_wait() while the connection is the only one. */
static bool waits_for_some(const struct traced_call *call)
{
	const struct call *shape = shape_of(call->nr);

	return call->waited_ns > 0 && shape && shape->waits == WAITS_FOR_EVENT &&
	       shape->result == 'l';
}

struct connection {
	double ns, wall_ns; /* waited in it; and of the calls */
	bool is_only;	    /* it was closed before another was opened */
};

/* From the connect() FIRST to its close(). */
static struct connection follow(const struct evidence *evidence, const struct seen_call *first)
{
	const struct seen_call *end = evidence->of + evidence->count, *seen;
	const int descriptor = (int)first->call->args[0];
	struct connection connection = { .ns = first->call->waited_ns };

	for (seen = first + 1; seen < end && seen->window == first->window; seen++) {
		if (connects(seen->call))
			return connection;
		if (seen->call->nr == SYS_close && is_on(seen->call, descriptor)) {
			connection.is_only = true;
			return connection;
		}
		if (is_on(seen->call, descriptor) || waits_for_some(seen->call))
			connection.ns += seen->call->waited_ns;
	}
	return connection;
}

void find_one_by_one(struct evidence *evidence)
{
	const double accepts = (double)(evidence->totals->of[SYS_accept4].calls +
					evidence->totals->of[SYS_accept].calls);
	double count = 0, alone = 0, ns = 0, part;
	size_t i;

	for (i = 0; i < evidence->count; i++) {
		const struct seen_call *seen = &evidence->of[i];
		struct connection connection;

		if (!connects(seen->call))
			continue;
		connection = follow(evidence, seen);
		count += seen->calls;
		alone += connection.is_only ? seen->calls : 0;
		ns += connection.is_only ? seen->calls * connection.ns : 0;
	}
	if (count < OFTEN || alone < count / 2 || accepts > count / 2)
		return;
	part = 1 - 1 / fmin(AT_ONCE, alone);
	add_finding(
		evidence,
		(struct finding){
			.kind = "one-by-one",
			.what = keep_text("%s one after the other wait for their answers, %s each",
					  counted(alone, "connection"), duration(ns / alone)),
			.cure = keep_text("%d connections at once, if the other end serves them "
					  "so,",
					  AT_ONCE),
			.calls = alone,
			.cost = { ns, ns * evidence->error_of_calls },
			.saved = { ns * part, ns * 0.15 },
			.waits = true,
		});
}
