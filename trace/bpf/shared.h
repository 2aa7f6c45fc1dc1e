/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* What the BPF programs and their loader share. */
#ifndef TRACE_BPF_SHARED_H
#define TRACE_BPF_SHARED_H

#include <stdint.h>

#define NUMBERS 1025	  /* CALL_LIMIT, and one for all others */
#define THREADS_MAX 32768 /* that are alive at once */
#define RING_SIZE (4 << 20)
#define PATH_ROOM 256 /* longer paths are cut */

/* How often a call was made: on each CPU. */
struct bpf_count {
	uint64_t calls, failed;
};

/* Which arguments of a call are a path, and the descriptor of a file that matters. */
#define NO_ARGUMENT 7
struct bpf_kinds {
	uint8_t path, descriptor;
};

/* What threads have used, in ns, and their page faults. */
struct bpf_spent {
	int64_t cpu_ns, user_ns, system_ns, page_faults;
};

struct bpf_state {
	/* for the programs */
	struct bpf_kinds kinds[NUMBERS];
	uint32_t halvings; /* of the sample */
	uint32_t process;  /* that is to be followed, */
	uint32_t held;	   /* and waits for that before its execve() */

	/* from the programs */
	uint32_t began; /* the process that was held executes its program */
	uint64_t alive, threads, not_followed;
	uint64_t sent, lost; /* calls of the sample */
	uint64_t next_window;
	struct bpf_spent spent;
};

/* What is open at a descriptor, if IS_OPEN. */
struct bpf_file {
	uint32_t is_open, mode, device, magic;
};

struct bpf_call {
	uint64_t window;
	uint64_t args[8]; /* two are not used: the verifier wants a power of two */
	int64_t result;
	int32_t nr; /* -1: the thread of this window has ended */
	uint32_t has_path;
	struct bpf_file file;
	char path[PATH_ROOM]; /* what follows its NUL is not sent */
};

#endif /* TRACE_BPF_SHARED_H */
