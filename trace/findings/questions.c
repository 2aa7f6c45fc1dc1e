// SPDX-License-Identifier: MIT
/* One question about one path, or about an open file, with one answer. */
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "../hash.h"
#include "../names.h"
#include "common/memory.h"
#include "repeated.h"

static const char kind[] = "question";

static const char *const asking[] = { "stat",	    "lstat",	 "newfstatat", "statx",
				      "access",	    "faccessat", "faccessat2", "readlink",
				      "readlinkat", "fstat",	 "statfs",     "fstatfs",
				      "getxattr",   "lgetxattr", "listxattr",  "llistxattr",
				      NULL };

/* An open that fails asks whether the file is there. */
static bool is_question(const struct traced_call *call)
{
	const char *name = name_of_call(call->nr);

	if (!strcmp(name, "openat") || !strcmp(name, "open"))
		return call_failed(call);
	return is_among(name, asking);
}

/* The numbers of the answers are compared; of a structure that a call fills, nothing is known. */
static bool asks_about_path(const struct traced_call *call, uint64_t *key)
{
	const bool has_path = call->paths[0] && *call->paths[0];
	uint64_t hash;

	if ((!has_path && !call->file_id) || !is_question(call))
		return false;
	hash = has_path ? hash_text(call->paths[0], call->directory_id) : call->file_id;
	if (has_path && call->paths[1])
		hash = hash_text(call->paths[1], hash);
	hash = hash_number((uint64_t)call->nr, hash);
	hash = hash_number((uint64_t)call->process, hash);
	*key = hash_number((uint64_t)call->result, hash);
	return true;
}

static const char *subject_of(const struct traced_call *call)
{
	if (call->paths[0] && *call->paths[0])
		return shown_path(call->paths[0]);
	return "one open file";
}

void find_questions(struct evidence *evidence)
{
	const struct repeated repeated = find_repeated(evidence, asks_about_path, kind);
	struct finding finding = { .kind = kind };

	if (!repeated.most)
		return;
	finding.what = keep_text(
		"%s ask %s and get the same answer, %s asks %.0f times about %s",
		counted(repeated.all.calls, "call"), counted(repeated.things, "question"),
		name_of_call(repeated.most->nr), repeated.most_times, subject_of(repeated.most));
	finding.cure = repeated.things > 1 ? "keeping the answers" : "keeping the answer";
	finding.calls = repeated.all.calls;
	finding.cost = cost_of_tally(evidence, &repeated.all);
	finding.saved = cost_of_tally(evidence, &repeated.again);
	add_code_between(evidence, &finding);
	add_finding(evidence, finding);
}
