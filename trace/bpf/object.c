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

static const char *const tracepoints[ATTACHED] = { "call_ends", "thread_begins", "program_begins",
						   "thread_ends" };

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

const char *bpf_load(struct bpf *bpf)
{
	int error;

	libbpf_set_print(NULL);
	bpf->object = bpf_object__open_mem(collector_object, sizeof(collector_object), NULL);
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
	size_t i;

	for (i = 0; i < ATTACHED; i++)
		bpf_link__destroy(bpf->links[i]);
	ring_buffer__free(bpf->ring);
	if (bpf->state)
		munmap((void *)bpf->state, sizeof(*bpf->state));
	bpf_object__close(bpf->object);
	memset(bpf, 0, sizeof(*bpf));
}

/* ---- the tracepoints ---- */

static struct bpf_program *program(const struct bpf *bpf, const char *name)
{
	return bpf_object__find_program_by_name(bpf->object, name);
}

int bpf_attach(struct bpf *bpf)
{
	size_t i;

	for (i = 0; i < ATTACHED; i++) {
		bpf->links[i] = bpf_program__attach(program(bpf, tracepoints[i]));
		if (!bpf->links[i])
			return -errno;
	}
	return 0;
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
	return visit_threads(bpf, "tally");
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
