// SPDX-License-Identifier: MIT
/* A value that the kernel gave before: an identity, a limit, a flag. */
#include <asm/termbits.h>
#include <fcntl.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../hash.h"
#include "../names.h"
#include "common/memory.h"
#include "repeated.h"

/* These ask whatever their arguments are; of the others, some do. */
static const char kind[] = "value";

static const char *const asking[] = { "getpid",
				      "gettid",
				      "getppid",
				      "getuid",
				      "geteuid",
				      "getgid",
				      "getegid",
				      "getpgrp",
				      "getpgid",
				      "getsid",
				      "getresuid",
				      "getresgid",
				      "getgroups",
				      "getcwd",
				      "uname",
				      "getrlimit",
				      "getcpu",
				      "getpriority",
				      "getsockname",
				      "getpeername",
				      "getsockopt",
				      "sched_getaffinity",
				      "sched_getparam",
				      "sched_getscheduler",
				      "sched_get_priority_max",
				      "sched_get_priority_min",
				      NULL };

static bool asks_of_file(const struct traced_call *call)
{
	switch (call->nr) {
	case SYS_fcntl:
		return call->args[1] == F_GETFL || call->args[1] == F_GETFD ||
		       call->args[1] == F_GETPIPE_SZ;
	case SYS_lseek:
		return call->args[2] == SEEK_CUR && !call->args[1];
	case SYS_ioctl:
		return call->args[1] == TCGETS || call->args[1] == TIOCGWINSZ ||
		       call->args[1] == FIONBIO;
	default:
		return false;
	}
}

static bool asks_value(const struct traced_call *call, uint64_t *key)
{
	uint64_t hash = hash_number((uint64_t)call->nr, (uint64_t)call->process);

	if (call->nr == SYS_prlimit64 && !call->args[2])
		hash = hash_number(call->args[1], hash);
	else if (asks_of_file(call))
		hash = hash_number(call->args[1], hash_number(call->args[0], hash));
	else if (!is_among(name_of_call(call->nr), asking))
		return false;
	hash = hash_number(call->file_id, hash);
	*key = hash_number((uint64_t)call->result, hash);
	return true;
}

void find_values(struct evidence *evidence)
{
	const struct repeated repeated = find_repeated(evidence, asks_value, kind);
	struct finding finding = { .kind = kind };

	if (!repeated.most)
		return;
	finding.what =
		keep_text("%s ask for %s that the kernel gave before, %s %.0f times",
			  counted(repeated.all.calls, "call"), counted(repeated.things, "value"),
			  name_of_call(repeated.most->nr), repeated.most_times);
	finding.cure = repeated.things > 1 ? "keeping the values" : "keeping the value";
	finding.calls = repeated.all.calls;
	finding.cost = cost_of_tally(evidence, &repeated.all);
	finding.saved = cost_of_tally(evidence, &repeated.again);
	add_code_between(evidence, &finding);
	add_finding(evidence, finding);
}
