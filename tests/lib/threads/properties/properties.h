/* SPDX-License-Identifier: MIT */
/* All properties, by the file that has them. */
#ifndef PROPERTIES_H
#define PROPERTIES_H

/* clang-format off */
#define PROPERTIES(X) \
	/* cancellation.c */ \
	X(cancelled_threads_are_forgotten) \
	X(cancel_in_calls_at_home) \
	X(cancelled_threads_go_on_until_a_point) \
	X(cancel_in_recv) \
	X(cancel_in_condition) \
	X(cancel_in_sleep) \
	X(cancel_in_a_stream) \
	X(cancel_before_a_wait) \
	X(cancel_when_enabled) \
	/* descriptors.c */ \
	X(descriptors_by_syscall) \
	X(received_numbers_are_new) \
	X(both_directions_at_once) \
	X(blocking_writes_are_whole) \
	X(recv_waits_for_all) \
	X(recv_of_all_returns_a_part) \
	X(sendmsg_returns_a_part) \
	X(recv_of_all_takes_one_datagram) \
	X(nonblocking_calls_do_not_wait) \
	X(accept_by_many) \
	X(numbers_are_used_again) \
	/* ends.c */ \
	X(exit_of_a_thread) \
	X(main_ends_first) \
	X(programs_from_threads) \
	X(exec_of_a_thread_has_its_mask) \
	X(abort_of_a_thread) \
	X(local_data) \
	X(short_threads) \
	X(detached_threads) \
	X(thread_numbers_stay) \
	X(contexts) \
	/* held.c */ \
	X(streams_in_a_chroot) \
	X(who_computed_wakes_others) \
	X(who_yielded_wakes_others) \
	/* locks.c */ \
	X(bits_of_futexes) \
	X(errors_of_futexes) \
	X(robust_mutex) \
	X(priority_inheriting_mutex) \
	X(plain_mutex) \
	X(kinds_of_mutexes) \
	X(shared_between_processes) \
	X(semaphores) \
	X(conditions) \
	X(reader_writer_lock) \
	X(barriers) \
	X(futexes) \
	X(inlined_futexes) \
	X(spinning_threads_do_not_hold_others) \
	/* privileges.c */ \
	X(a_filter_for_all_threads) \
	X(no_new_privileges_stay_with_the_thread) \
	X(a_filter_stays_with_the_thread_and_its_threads) \
	X(unshare_stays_with_the_thread) \
	X(affinity_stays_with_the_thread) \
	X(set_user_is_for_all) \
	/* signals.c */ \
	X(signals_end_waits) \
	X(kill_returns_after_the_handler) \
	X(signals_meet_threads_that_leave_home) \
	X(handlers_that_wait) \
	X(signal_ends_recv) \
	X(signal_restarts_recv) \
	X(process_signal_finds_the_thread) \
	X(mask_holds_signals_back) \
	X(sigwait_takes_it) \
	X(sigpipe_comes_to_the_writer) \
	X(sigpipe_kills) \
	X(handlers_may_post) \
	X(fault_and_jump) \
	X(signal_stacks_stay_with_their_threads) \
	X(handlers_of_faults_may_wait) \
	/* times.c */ \
	X(far_times) \
	X(time_limits) \
	X(a_condition_waits_with_any_mutex) \
	X(time_limits_of_locks)
/* clang-format on */

#define X(name) void name(void);
PROPERTIES(X)
#undef X

#endif /* PROPERTIES_H */
