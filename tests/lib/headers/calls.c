/* SPDX-License-Identifier: MIT */
/* ferry_call() with every number and type of arguments that it takes, in C11 and in C++. */
#include <stdbool.h>
#include <stdint.h>

#include <ferry.h>

enum colour { RED, GREEN };

int append(struct ferry_program *program, long nr, const char *text, void *nothing);

int append(struct ferry_program *program, long nr, const char *text, void *nothing)
{
	unsigned char byte = 255;
	unsigned long most = UINT64_MAX;
	int32_t small = -1;
	bool flag = true;

	return ferry_call(program, nr) + ferry_call(program, nr, text) +
	       ferry_call(program, nr, byte, most) + ferry_call(program, nr, small, flag, GREEN) +
	       ferry_call(program, nr, 'c', 1U, 2L, 3UL) +
	       ferry_call(program, nr, nothing, &small, NULL, program, 5) +
	       ferry_call(program, nr, 1, 2, 3, 4, 5, flag ? 6 : 7) +
	       ferry_jump_to(program, 0, FERRY_ON_ZERO | FERRY_ON_POS, FERRY_END);
}
