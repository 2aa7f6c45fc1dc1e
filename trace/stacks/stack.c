// SPDX-License-Identifier: MIT
#include "stack.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>

#include "common/memory.h"
#include "measure/harness/clock.h"

#if defined(__x86_64__)

static void take_registers(struct user_stack *stack, const struct user_regs_struct *now)
{
	const uint64_t registers[STACK_REGISTERS] = {
		now->rax, now->rdx, now->rcx, now->rbx, now->rsi, now->rdi,
		now->rbp, now->rsp, now->r8,  now->r9,	now->r10, now->r11,
		now->r12, now->r13, now->r14, now->r15, now->rip,
	};

	memcpy(stack->registers, registers, sizeof(registers));
	stack->pc = now->rip;
	stack->sp = now->rsp;
}

#else

static void take_registers(struct user_stack *stack, const struct user_regs_struct *now)
{
	memcpy(stack->registers, now->regs, sizeof(now->regs));
	stack->registers[31] = now->sp;
	stack->pc = now->pc;
	stack->sp = now->sp;
}

#endif

/* Up to the end of its page, and the page after that if there is one. */
static size_t read_bytes(pid_t thread, uint64_t from, unsigned char *bytes)
{
	const size_t first = STACK_PART - from % STACK_PART;
	struct iovec here = { bytes, first + STACK_PART };
	struct iovec there[] = { { (void *)from, first }, { (void *)(from + first), STACK_PART } };
	const ssize_t size = process_vm_readv(thread, &here, 1, there, 2, 0);

	return size < 0 ? 0 : (size_t)size;
}

struct user_stack *stack_read(pid_t process, pid_t thread)
{
	struct user_stack *stack = allocate(1, sizeof(*stack) + STACK_ROOM);
	struct user_regs_struct registers;
	struct iovec place = { &registers, sizeof(registers) };

	if (ptrace(PTRACE_GETREGSET, thread, NT_PRSTATUS, &place) ||
	    place.iov_len < sizeof(registers)) { /* of another architecture */
		free(stack);
		return NULL;
	}
	stack->process = process;
	stack->ns = (uint64_t)now_ns();
	take_registers(stack, &registers);
	stack->size = read_bytes(thread, stack->sp, stack->bytes);
	return reallocate(stack, 1, sizeof(*stack) + stack->size);
}
