// SPDX-License-Identifier: MIT
#include "object.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "collector_object.h"
#include "common/file.h"
#include "common/memory.h"

#define TYPES "/sys/kernel/btf/vmlinux"

#define BEGINS 0

static const char *const tracepoints[ATTACHED] = { [BEGINS] = "call_begins",
						   "call_ends",
						   "thread_begins",
						   "program_begins",
						   "thread_ends",
						   "switched",
						   "page_faults" };

/* ---- loading ---- */

static bool is_in_user_namespace(void)
{
	unsigned long first = 0, outside = 0, count = 0;

	if (sscanf(line_after("/proc/self/uid_map", ""), "%lu %lu %lu", &first, &outside, &count) !=
	    3)
		return false;
	return first || outside || count != UINT32_MAX;
}

static const char *why_not_loaded(int error)
{
	if (error == -EPERM || error == -EACCES)
		return is_in_user_namespace() ?
			       "a user namespace, such as a container's, does not permit it" :
			       "it takes CAP_BPF and CAP_PERFMON, which root has";
	if (access(TYPES, R_OK))
		return "this kernel has no " TYPES;
	if (error == -ENOSYS)
		return "this kernel has no bpf(2)";
	return keep_text("the kernel does not load the programs: %s", strerror(-error));
}

static int on_call(void *context, void *call, size_t size)
{
	const struct bpf *bpf = context;

	(void)size;
	bpf->take(bpf->context, call);
	return 0;
}

static int map_fd(const struct bpf *bpf, const char *name)
{
	return bpf_map__fd(bpf_object__find_map_by_name(bpf->object, name));
}

static int open_maps(struct bpf *bpf)
{
	void *state = mmap(NULL, sizeof(*bpf->state), PROT_READ | PROT_WRITE, MAP_SHARED,
			   map_fd(bpf, ".bss"), 0);

	if (state == MAP_FAILED)
		return -errno;
	bpf->state = state;
	bpf->ring = ring_buffer__new(map_fd(bpf, "ring"), on_call, bpf, NULL);
	return bpf->ring ? 0 : -errno;
}

static struct bpf_program *program(const struct bpf *bpf, const char *name)
{
	return bpf_object__find_program_by_name(bpf->object, name);
}

bool bpf_sees_faults(const struct bpf *bpf)
{
	return bpf_program__autoload(program(bpf, "page_faults"));
}

const char *bpf_load(struct bpf *bpf)
{
	int error;

	libbpf_set_print(NULL);
	bpf->object = bpf_object__open_mem(collector_object, sizeof(collector_object), NULL);
	if (bpf->object && libbpf_find_vmlinux_btf_id("page_fault_user", BPF_TRACE_RAW_TP) < 0)
		bpf_program__set_autoload(program(bpf, "page_faults"), false);
	error = bpf->object ? bpf_object__load(bpf->object) : -errno;
	if (!error)
		error = open_maps(bpf);
	if (!error)
		return NULL;
	bpf_unload(bpf);
	return why_not_loaded(error);
}

void bpf_unload(struct bpf *bpf)
{
	bpf_detach(bpf);
	ring_buffer__free(bpf->ring);
	if (bpf->state)
		munmap((void *)bpf->state, sizeof(*bpf->state));
	bpf_object__close(bpf->object);
	memset(bpf, 0, sizeof(*bpf));
}

/* ---- the tracepoints ---- */

int bpf_attach(struct bpf *bpf)
{
	size_t i;

	for (i = 0; i < ATTACHED; i++) {
		if (bpf->links[i] || !bpf_program__autoload(program(bpf, tracepoints[i])))
			continue;
		bpf->links[i] = bpf_program__attach(program(bpf, tracepoints[i]));
		if (!bpf->links[i])
			return -errno;
	}
	return 0;
}

static void detach(struct bpf *bpf, size_t i)
{
	bpf_link__destroy(bpf->links[i]);
	bpf->links[i] = NULL;
}

void bpf_detach_begins(struct bpf *bpf)
{
	detach(bpf, BEGINS);
}

void bpf_detach(struct bpf *bpf)
{
	size_t i;

	for (i = 0; i < ATTACHED; i++)
		detach(bpf, i);
}

unsigned long bpf_missed(const struct bpf *bpf)
{
	unsigned long missed = 0;
	size_t i;

	for (i = 0; i < ATTACHED; i++) {
		struct bpf_prog_info info = { 0 };
		__u32 size = sizeof(info);

		if (!bpf_obj_get_info_by_fd(bpf_program__fd(program(bpf, tracepoints[i])), &info,
					    &size))
			missed += info.recursion_misses;
	}
	return missed;
}

/* ---- questions ---- */

/* Runs a program for each thread of the machine. */
static int visit_threads(const struct bpf *bpf, const char *name)
{
	struct bpf_link *link = bpf_program__attach_iter(program(bpf, name), NULL);
	int error = 0, iterator;
	char nothing[8];

	if (!link)
		return -errno;
	iterator = bpf_iter_create(bpf_link__fd(link));
	if (iterator < 0 || read(iterator, nothing, sizeof(nothing)) < 0)
		error = -errno;
	if (iterator >= 0)
		close(iterator);
	bpf_link__destroy(link);
	return error;
}

/* Threads that are not followed yet may start others. */
int bpf_follow(struct bpf *bpf)
{
	unsigned long before;
	int error;

	do {
		before = bpf->state->threads;
		error = visit_threads(bpf, "follow_process");
	} while (!error && bpf->state->threads > before);
	return error;
}

int bpf_tally(struct bpf *bpf)
{
	bpf->state->running = (struct bpf_spent){ 0 };
	return visit_threads(bpf, "tally");
}

void bpf_restart(struct bpf *bpf)
{
	const int threads = map_fd(bpf, "threads"), counts = map_fd(bpf, "counts");
	struct bpf_count *none = allocate((size_t)libbpf_num_possible_cpus(), sizeof(*none));
	volatile struct bpf_state *state = bpf->state;
	uint64_t key;
	uint32_t nr;

	while (!bpf_map_get_next_key(threads, NULL, &key))
		bpf_map_delete_elem(threads, &key);
	for (nr = 0; nr < NUMBERS; nr++) {
		bpf_map_update_elem(counts, &nr, none, BPF_ANY);
		state->stacked[nr] = 0;
	}
	free(none);
	state->halvings = 0;
	state->alive = state->threads = state->not_followed = 0;
	state->sent = state->lost = state->stacks_sent = state->next_window = 0;
	state->spent = (struct bpf_spent){ 0 };
	state->faults = (struct bpf_faults){ 0 };
	state->children = (struct bpf_children){ 0 };
}

struct bpf_count bpf_count_of(const struct bpf *bpf, uint32_t nr)
{
	const int cpus = libbpf_num_possible_cpus();
	struct bpf_count sum = { 0 }, *each;
	int i;

	if (cpus < 1)
		return sum;
	each = allocate((size_t)cpus, sizeof(*each));
	if (!bpf_map_lookup_elem(map_fd(bpf, "counts"), &nr, each))
		for (i = 0; i < cpus; i++) {
			sum.calls += each[i].calls;
			sum.failed += each[i].failed;
		}
	free(each);
	return sum;
}

void bpf_receive(struct bpf *bpf)
{
	ring_buffer__consume(bpf->ring);
}
