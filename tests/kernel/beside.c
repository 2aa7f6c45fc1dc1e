// SPDX-License-Identifier: MIT
/* Programs that run with the loop and with the engine under attack; see beside.h. */
#include "beside.h"

#define TOLD_SIZE 16384

/* The text of the body that runs, shared with its children. */
static struct told {
	size_t length;
	char text[TOLD_SIZE];
} * told;

void *shared_memory(size_t size)
{
	void *map = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	expect(map != MAP_FAILED);
	return map;
}

void tell(const char *format, ...)
{
	size_t room = TOLD_SIZE - told->length;
	va_list args;
	int length;

	va_start(args, format);
	length = vsnprintf(told->text + told->length, room, format, args);
	va_end(args);
	expect(length >= 0 && (size_t)length < room);
	told->length += (size_t)length;
}

void tell_status(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) < 0)
		expect_equal(errno, EINTR);
	tell("status %#x\n", status);
}

static void run_with_loop(void *body)
{
	way = way_by_name("loop");
	(*(child_fn *)body)(NULL);
}

static void run_with_engine(void *body)
{
	(*(child_fn *)body)(NULL);
}

void compare_with_loop(child_fn body)
{
	struct told *by_loop = shared_memory(sizeof(*by_loop));
	struct told *by_engine = shared_memory(sizeof(*by_engine));
	int loop_status;
	int status;

	told = by_loop;
	loop_status = in_child(run_with_loop, (void *)&body);
	told = by_engine;
	status = in_child(run_with_engine, (void *)&body);
	/* What cannot run here skips itself, and a test that fails in the loop is wrong. */
	if (WIFEXITED(loop_status) && WEXITSTATUS(loop_status) == CHILD_SKIPPED)
		_exit(CHILD_SKIPPED);
	expect_equal(WIFEXITED(loop_status) && WEXITSTATUS(loop_status) == 1, false);
	if (strcmp(by_loop->text, by_engine->text) != 0)
		suite_fail(__FILE__, __LINE__, "the loop told\n%sand the engine\n%s", by_loop->text,
			   by_engine->text);
	if (status != loop_status)
		suite_fail(__FILE__, __LINE__, "status %#x, not %#x, after\n%s", status,
			   loop_status, by_engine->text);
}

struct script *new_script(void)
{
	return shared_memory(sizeof(struct script));
}

unsigned int add_slot(struct script *script, struct batch_slot slot)
{
	expect(script->count < SCRIPT_SLOTS);
	script->calls[script->count] = slot;
	script->rets[script->count] = UNTOUCHED;
	return script->count++;
}

unsigned int add_taking(struct script *script, unsigned int arg, unsigned int from,
			struct batch_slot slot)
{
	unsigned int distance = script->count - from;

	return add_slot(script, forwarding(slot, arg, (unsigned char)distance));
}

unsigned int add_vague(struct script *script, struct batch_slot slot)
{
	unsigned int index = add_slot(script, slot);

	script->vague[index] = true;
	return index;
}

void run_script(struct script *script)
{
	long last = run_batch(script->rets, script->calls, script->count);
	unsigned int i;

	tell("last %ld\n", last);
	for (i = 0; i < script->count; i++)
		if (script->vague[i])
			tell("%u: %s\n", i, script->rets[i] < 0 ? "negative" : "not negative");
		else
			tell("%u: %ld\n", i, script->rets[i]);
}

void handle(int sig, void (*handler)(int), int flags)
{
	const struct sigaction action = { .sa_handler = handler, .sa_flags = flags };

	expect(!sigaction(sig, &action, NULL));
}
