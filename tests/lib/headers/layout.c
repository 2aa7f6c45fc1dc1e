/* SPDX-License-Identifier: MIT */
/* The layouts and constants of the ABI, which are compiled into every program. */
#include <stddef.h>

#include <ferry.h>
#include <linux/batch.h>
#include <linux/flexsc.h>
#include <linux/kstats.h>

/* An array of negative size stops the compiler; C89 has no other assertion. */
#define SAME(name, a, b) extern char name[(a) == (b) ? 1 : -1]
#define FIELD(type, field, offset, size)                                        \
	SAME(offset_of_##type##_##field, offsetof(struct type, field), offset); \
	SAME(size_of_##type##_##field, sizeof(((struct type *)0)->field), size)

SAME(size_of_slot, sizeof(struct batch_slot), 64);
FIELD(batch_slot, nr, 0, 2);
FIELD(batch_slot, jump_fail, 2, 2);
FIELD(batch_slot, jump_zero, 4, 2);
FIELD(batch_slot, jump_pos, 6, 2);
FIELD(batch_slot, argc, 8, 1);
FIELD(batch_slot, from, 9, 6);
FIELD(batch_slot, reserved, 15, 1);
FIELD(batch_slot, arg, 16, 48);

SAME(size_of_syscall_t, sizeof(syscall_t), 64);
SAME(original_nr, offsetof(syscall_t, nr), offsetof(struct batch_slot, nr));
SAME(original_jump_fail, offsetof(syscall_t, jumpFail), offsetof(struct batch_slot, jump_fail));
SAME(original_jump_zero, offsetof(syscall_t, jump0), offsetof(struct batch_slot, jump_zero));
SAME(original_jump_pos, offsetof(syscall_t, jumpPos), offsetof(struct batch_slot, jump_pos));
SAME(original_argc, offsetof(syscall_t, argc), offsetof(struct batch_slot, argc));
SAME(original_argc_size, sizeof(((syscall_t *)0)->argc), 1);
SAME(original_arg, offsetof(syscall_t, arg), offsetof(struct batch_slot, arg));
SAME(original_arg_size, sizeof(((syscall_t *)0)->arg), 48);

SAME(batch_request, FERRY_IOC_BATCH, 0xc080fe01);
SAME(serve_request, FERRY_IOC_FLEXSC_SERVE, 0xfe02);

SAME(size_of_entry, sizeof(struct flexsc_entry), 64);
FIELD(flexsc_entry, status, 0, 4);
FIELD(flexsc_entry, nr, 4, 2);
FIELD(flexsc_entry, argc, 6, 1);
FIELD(flexsc_entry, begun, 7, 1);
FIELD(flexsc_entry, result, 8, 8);
FIELD(flexsc_entry, arg, 16, 48);

SAME(size_of_set, sizeof(struct flexsc_set), 128);
FIELD(flexsc_set, version, 0, 4);
FIELD(flexsc_set, flags, 4, 4);
FIELD(flexsc_set, count, 8, 4);
FIELD(flexsc_set, eventfd, 12, 4);
FIELD(flexsc_set, spin_ns, 16, 8);
FIELD(flexsc_set, runner, 64, 4);
FIELD(flexsc_set, gate, 68, 4);
FIELD(flexsc_set, alert, 72, 4);
SAME(offset_of_entries, offsetof(struct flexsc_set, entry), 128);

SAME(size_of_kstats, sizeof(struct kstats), KSTATS_SIZE_VER0);
FIELD(kstats, processes, 0, 8);
FIELD(kstats, runnable, 8, 8);
FIELD(kstats, memory_total, 16, 8);
FIELD(kstats, memory_free, 24, 8);
FIELD(kstats, memory_buffers, 32, 8);
FIELD(kstats, uptime, 40, 8);
FIELD(kstats, context_switches, 48, 8);

SAME(number_of_null, FERRY_NR_NULL, 500);
SAME(number_of_batch, FERRY_NR_BATCH, 501);
SAME(number_of_kstats, FERRY_NR_KSTATS, 502);
SAME(number_of_multi_page_alloc, FERRY_NR_MULTI_PAGE_ALLOC, 503);
SAME(number_of_flexsc_register, FERRY_NR_FLEXSC_REGISTER, 504);
SAME(number_of_flexsc_serve, FERRY_NR_FLEXSC_SERVE, 506);
SAME(number_of_the_word_copy, BATCH_WDCPY, -2);
SAME(batch_number_of_programs, __NR_batch, 501);
SAME(wdcpy_number_of_programs, __NR_wdcpy, -2);
SAME(number_of_a_go_to, FERRY_NR_GOTO, -1);

SAME(size_of_batch_args, sizeof(struct batch_args), 128);
FIELD(batch_args, rets, 0, 8);
FIELD(batch_args, calls, 8, 8);
FIELD(batch_args, ncall, 16, 8);
FIELD(batch_args, flags, 24, 8);
FIELD(batch_args, position, 32, 8);
FIELD(batch_args, last, 40, 8);
FIELD(batch_args, state, 48, 8);
FIELD(batch_args, result, 56, 8);
FIELD(batch_args, slot, 64, 64);
SAME(state_of_a_batch_that_begins, BATCH_BEGIN, 0);
SAME(state_of_a_call, BATCH_CALL, 1);
SAME(state_of_a_restart, BATCH_RESTART, 2);
SAME(state_of_a_result, BATCH_STORE, 3);
SAME(state_of_an_answer, BATCH_ANSWER, 4);

SAME(version, BATCH_VERSION, 3);
SAME(most_arguments, BATCH_MAX_ARGS, 6);
SAME(forward_bit, BATCH_ARGC_FORWARD, 0x80);
SAME(largest_errno, BATCH_MAX_ERRNO, 4095);
SAME(query_flag, FERRY_BATCH_QUERY, 1);
SAME(version_mask, BATCH_VERSION_MASK, 0xff);
SAME(feature_shift, BATCH_FEATURE_SHIFT, 8);
SAME(wdcpy_feature, BATCH_FEATURE_WDCPY, 1);
SAME(forward_feature, BATCH_FEATURE_FORWARD, 2);
