// SPDX-License-Identifier: MIT
/* Messages that are sent in pieces: write, write, read. */
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#include "../shapes.h"
#include "common/memory.h"
#include "evidence.h"

static const char kind[] = "split";

#define PIECE 4096   /* bytes: a larger one is no part of a message that could be one */
#define LOOK_BACK 16 /* calls */
#define STALL 30e6   /* ns: TCP's delayed acknowledgement takes 40 ms and more */

static bool is_on_socket(const struct traced_call *call)
{
	return call->file && !strncmp(call->file, "socket:", 7);
}

static bool sends(const struct traced_call *call)
{
	return (call->nr == SYS_write || call->nr == SYS_sendto || call->nr == SYS_sendmsg ||
		call->nr == SYS_writev) &&
	       is_on_socket(call) && call->result > 0 && call->result < PIECE;
}

static bool receives(const struct traced_call *call)
{
	return (call->nr == SYS_read || call->nr == SYS_recvfrom || call->nr == SYS_recvmsg ||
		call->nr == SYS_readv) &&
	       is_on_socket(call);
}

static bool has_same_socket(const struct seen_call *one, const struct seen_call *other)
{
	return one->window == other->window && one->call->process == other->call->process &&
	       one->call->args[0] == other->call->args[0];
}

/* The call before SEEN on the same socket, if it sends. */
static struct seen_call *piece_before(const struct evidence *evidence, struct seen_call *seen)
{
	struct seen_call *before = seen;
	int i;

	for (i = 0; i < LOOK_BACK && before > evidence->of; i++) {
		before--;
		if (has_same_socket(before, seen) &&
		    (sends(before->call) || receives(before->call)))
			return sends(before->call) ? before : NULL;
	}
	return NULL;
}

void find_split(struct evidence *evidence)
{
	struct tally all = { 0 }, needless = { 0 };
	double stalls = 0, stalled_ns = 0;
	size_t i;

	for (i = 0; i < evidence->count; i++) {
		struct seen_call *seen = &evidence->of[i], *before;

		before = sends(seen->call) || receives(seen->call) ? piece_before(evidence, seen) :
								     NULL;
		if (!before)
			continue;
		if (sends(seen->call)) {
			if (!before->claimed)
				claim(&all, before, kind);
			claim(&all, seen, kind);
			tally_add(&needless, seen, 1);
		} else if (before->claimed && seen->call->waited_ns > STALL) {
			stalls += seen->calls;
			stalled_ns += seen->calls * seen->call->waited_ns;
		}
	}
	if (!needless.calls)
		return;
	if (stalls > needless.calls / 4)
		add_finding(evidence,
			    (struct finding){
				    .kind = kind,
				    .what = keep_text(
					    "messages are sent in pieces, and %s of an answer "
					    "wait%s for the acknowledgement that the peer "
					    "delays",
					    counted(stalls, "read"), stalls > 1 ? "" : "s"),
				    .cure = "one writev() for each message, or TCP_NODELAY,",
				    .calls = all.calls,
				    .cost = { stalled_ns, 0 },
				    .saved = { stalled_ns, stalled_ns * 0.1 },
				    .waits = true,
			    });
	add_finding(evidence,
		    (struct finding){
			    .kind = kind,
			    .what = keep_text("%s to sockets send a further piece of a message",
					      counted(needless.calls, "write")),
			    .cure = "one writev() for each message",
			    .calls = all.calls,
			    .cost = cost_of_tally(evidence, &all),
			    .saved = cost_of_tally(evidence, &needless),
		    });
}
