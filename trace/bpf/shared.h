/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* What the BPF programs and their loader share. */
#ifndef TRACE_BPF_SHARED_H
#define TRACE_BPF_SHARED_H

#include <stdint.h>

#include "stack.h"

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

/* What threads have used, in ns, their page faults, and how often they were switched away from. */
struct bpf_spent {
	int64_t cpu_ns, user_ns, system_ns, page_faults, waits, preemptions;
};

#define ROW 16	     /* pages */
#define LONG_ROW 512 /* a large page of x86-64 */

/* Page faults of user code. */
struct bpf_faults {
	uint64_t seen;
	/* That are in a row of so many pages, each fault on the page after the last one. */
	uint64_t in_rows, in_long_rows;
};

/* Processes that the program started and that have ended after little CPU time. */
#define SHORT_LIFE 20000000 /* ns */
struct bpf_children {
	uint64_t count, cpu_ns;
};

struct bpf_state {
	/* for the programs */
	struct bpf_kinds kinds[NUMBERS];
	uint32_t halvings; /* of the sample */
	uint32_t page_shift;
	uint32_t process; /* that is to be followed, */
	uint32_t held;	  /* and waits for that before its execve() */
	uint32_t stacks;  /* are sent */
	uint64_t cgroup;  /* whose processes are followed, or 0 */

	/* from the programs */
	uint32_t began; /* the process that was held executes its program */
	uint64_t alive, threads, not_followed;
	uint64_t sent, lost; /* calls of the sample */
	uint64_t next_window;
	uint32_t self, reporter; /* the loader, and the last process that it started */
	uint32_t pid_level;	 /* of the loader, and its namespace of processes */
	uint64_t pid_namespace;
	uint64_t stacks_sent;
	uint32_t stacked[NUMBERS]; /* calls of the sample, where stacks are sent */
	struct bpf_spent spent;	   /* by threads that have ended, less what all had used before */
	struct bpf_spent running;  /* by those that have not: see bpf_tally() */
	struct bpf_faults faults;
	struct bpf_children children;
};

/* What is open at a descriptor, if IS_OPEN. */
struct bpf_file {
	uint32_t is_open, mode, device, magic;
	uint64_t identity; /* of the file among all: a number, or 0 */
};

enum bpf_text { NO_TEXT, IS_PATH, IS_FILE_NAME };

/* In the place of a number: the thread of this window has ended, or it is a struct bpf_stack. */
enum bpf_sent { SENT_END = -1, SENT_STACK = -2 };

/* The stack of the call of this window that is sent next. */
struct bpf_stack {
	uint64_t window;
	int32_t nr;	  /* SENT_STACK */
	uint32_t process; /* as the loader knows it */
	uint32_t stands;  /* for so many calls */
	uint32_t size;
	uint64_t ns; /* CLOCK_MONOTONIC */
	uint64_t pc, sp;
	uint64_t registers[STACK_REGISTERS];
	unsigned char bytes[STACK_ROOM]; /* from SP on; what follows SIZE is not sent */
};

struct bpf_call {
	uint64_t window;
	int32_t nr;	  /* or one of enum bpf_sent */
	uint64_t args[8]; /* two are not used: the verifier wants a power of two */
	int64_t result;
	uint32_t process, thread;
	uint32_t switches; /* by its own wish */
	uint64_t began;	  /* ns, CLOCK_MONOTONIC; 0: its beginning was not seen: WALL_NS, BETWEEN_NS
			     are void */
	uint64_t wall_ns; /* from its beginning to its end */
	uint64_t away_ns; /* of which the thread was on no CPU, */
	uint64_t waited_ns;  /* and of that what began by its own wish */
	uint64_t between_ns; /* on a CPU since the end of the call before; 0 if not seen */
	uint64_t directory;  /* identity of the one that a relative path starts from */
	struct bpf_file file;
	uint32_t text_is;     /* enum bpf_text */
	char text[PATH_ROOM]; /* what follows its NUL is not sent */
};

#endif /* TRACE_BPF_SHARED_H */
