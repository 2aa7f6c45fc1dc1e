// SPDX-License-Identifier: MIT
/* Slots and results in memory whose faults a thread of the program serves late, or never. */
#include <linux/userfaultfd.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>

#include "tests/lib/conformance/contract/filter.h"
#include "hostile.h"

#define PAGES 4
#define SLOTS (PAGES * PAGE / sizeof(struct batch_slot))

static int fault_fd;
static char *region;
static struct batch_slot *source; /* the contents of the region */
static int served;

static void open_userfaultfd(void)
{
	struct uffdio_api api = { .api = UFFD_API };

	fault_fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
	if (fault_fd < 0)
		suite_skip("this kernel has no userfaultfd, or not for this user");
	expect(!ioctl(fault_fd, UFFDIO_API, &api));
}

/* A region whose pages are all missing, and its contents: calls of getpid. */
static void make_region(void)
{
	struct uffdio_register request = { .mode = UFFDIO_REGISTER_MODE_MISSING };
	size_t i;

	open_userfaultfd();
	region = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		      0);
	source = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		      0);
	expect(region != MAP_FAILED && source != MAP_FAILED);
	for (i = 0; i < SLOTS; i++)
		source[i] = SLOT(SYS_getpid);
	request.range.start = (unsigned long)region;
	request.range.len = PAGES * PAGE;
	expect(!ioctl(fault_fd, UFFDIO_REGISTER, &request));
}

static unsigned long next_fault(void)
{
	struct uffd_msg message;

	expect_equal(read(fault_fd, &message, sizeof(message)), sizeof(message));
	expect_equal(message.event, UFFD_EVENT_PAGEFAULT);
	return message.arg.pagefault.address & -PAGE;
}

/* May be called from a handler. */
static long copy_page(unsigned long address)
{
	struct uffdio_copy copy = {
		.dst = address,
		.src = (unsigned long)source + (address - (unsigned long)region),
		.len = PAGE,
	};

	return ferry_rawcall(SYS_ioctl, fault_fd, UFFDIO_COPY, (long)&copy, 0, 0, 0);
}

static void fill_page(unsigned long address)
{
	expect_equal(copy_page(address), 0);
}

static void *serve_late(void *arg)
{
	unsigned long address;

	(void)arg;
	for (;;) {
		address = next_fault();
		usleep(20000);
		served++;
		fill_page(address);
	}
	return NULL;
}

TEST(slots_may_come_late)
{
	static long rets[SLOTS];
	size_t i;

	make_region();
	thread_start(serve_late, NULL);
	expect_equal(run_batch(rets, (struct batch_slot *)region, SLOTS), SLOTS - 1);
	for (i = 0; i < SLOTS; i++)
		expect_equal(rets[i], getpid());
	expect_equal(served, PAGES);
}

TEST(room_for_results_may_come_late)
{
	const size_t count = PAGES * PAGE / sizeof(long);
	struct batch_slot *calls;
	size_t i;

	make_region();
	calls = mmap(NULL, count * sizeof(*calls), PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	expect(calls != MAP_FAILED);
	for (i = 0; i < count; i++)
		calls[i] = SLOT(SYS_getppid);
	thread_start(serve_late, NULL);
	expect_equal(run_batch((long *)region, calls, count), count - 1);
	for (i = 0; i < count; i++)
		expect_equal(((long *)region)[i], getppid());
	expect_equal(served, PAGES);
}

/* ---- pages that are no longer filled: their slots are zero ---- */

static void *unregister(void *arg)
{
	struct uffdio_range range = { (unsigned long)region, PAGES * PAGE };

	(void)arg;
	next_fault();
	usleep(20000);
	expect(!ioctl(fault_fd, UFFDIO_UNREGISTER, &range));
	return NULL;
}

static void *close_it(void *arg)
{
	(void)arg;
	next_fault();
	usleep(20000);
	close(fault_fd);
	return NULL;
}

static void run_zero_slots(void *(*thread)(void *))
{
	static long rets[SLOTS];
	const long of_zeros = result_of_zeros();
	size_t i;

	make_region();
	memset(rets, 1, sizeof(rets));
	thread_start(thread, NULL);
	expect_equal(run_batch(rets, (struct batch_slot *)region, SLOTS), SLOTS - 1);
	for (i = 0; i < SLOTS; i++)
		expect_equal(rets[i], of_zeros);
}

TEST(a_server_may_give_up_meanwhile)
{
	run_zero_slots(unregister);
}

TEST(a_server_may_close_its_descriptor_meanwhile)
{
	run_zero_slots(close_it);
}

/* ---- a signal while a slot waits for the memory of its filter program ---- */

static pthread_t victim;
static volatile sig_atomic_t handled;

static void count_signal(int sig)
{
	(void)sig;
	handled++;
}

static void *serve_after_signal(void *arg)
{
	unsigned long address = next_fault();

	(void)arg;
	pthread_kill(victim, SIGUSR1);
	fill_page(address);
	return NULL;
}

/* The filter allows the calls of the later slots, and rt_sigreturn. */
static void confine_itself_late(void *arg)
{
	static const int numbers[] = { SYS_write, SYS_rt_sigreturn, SYS_exit_group };
	struct batch_slot *calls = new_page();
	struct filter filter;
	long rets[4];

	make_region();
	filter_make(&filter, numbers, 3, SECCOMP_RET_ALLOW, SECCOMP_RET_KILL_PROCESS);
	memcpy(source, filter.code, sizeof(filter.code));
	filter.program.filter = (struct sock_filter *)region;
	calls[0] = SLOT(SYS_prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	calls[1] = SLOT(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &filter.program);
	calls[2] = SLOT(SYS_write, *(int *)arg, "a", 1);
	calls[3] = SLOT(SYS_write, *(int *)arg, "bc", 2);
	signal(SIGUSR1, count_signal);
	victim = pthread_self();
	thread_start(serve_after_signal, NULL);
	if (ferry_batch_on(engine, rets, calls, 4, 0, 0) != 3)
		_exit(2);
	_exit(rets[1] == 0 && rets[2] == 1 && rets[3] == 2 && handled == 1 ? 0 : 3);
}

TEST(a_signal_over_the_installation_of_a_filter_is_no_call)
{
	int file = memory_file();

	open_userfaultfd();
	expect_child(confine_itself_late, &file);
	expect_equal(lseek(file, 0, SEEK_END), 3);
}

/* ---- a signal between the slot that turns on user dispatch and the next ---- */

#ifndef PR_SET_SYSCALL_USER_DISPATCH
#define PR_SET_SYSCALL_USER_DISPATCH 59
#endif
#define DISPATCH_ALLOWS 0
#define DISPATCH_BLOCKS 1

static volatile char selector;
static volatile sig_atomic_t dispatched;

static void note_dispatched(int sig, siginfo_t *info, void *context)
{
	(void)sig;
	(void)context;
	dispatched = info->si_syscall;
	selector = DISPATCH_ALLOWS;
}

/* The last page of user space, where each slot is a step with all checks. */
static struct batch_slot *last_slots(size_t count)
{
	static const unsigned long ends[] = { 1UL << 56, 1UL << 47 };
	const size_t page = PAGE;
	char *last = MAP_FAILED;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(ends) && last == MAP_FAILED; i++)
		/* The page at the end itself belongs to nobody. */
		last = mmap((void *)(ends[i] - 2 * page), page, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
	expect(last != MAP_FAILED);
	return (struct batch_slot *)(last + page) - count;
}

/* Where a handler for SIG returns to, which makes rt_sigreturn(). */
static long restorer_of(int sig)
{
	struct {
		long handler, flags, restorer;
		unsigned long mask;
	} action;

	expect(!syscall(SYS_rt_sigaction, sig, NULL, &action, sizeof(action.mask)));
	return action.restorer;
}

static void dispatch_late(void *arg)
{
	const struct sigaction dispatch = { .sa_sigaction = note_dispatched,
					    .sa_flags = SA_SIGINFO };
	struct batch_slot *calls = last_slots(2);
	long *rets;

	(void)arg;
	make_region();
	rets = (long *)region;
	expect(!sigaction(SIGSYS, &dispatch, NULL));
	signal(SIGUSR1, count_signal);
	calls[0] = SLOT(SYS_prctl, PR_SET_SYSCALL_USER_DISPATCH, 1, restorer_of(SIGUSR1), 16,
			&selector);
	calls[1] = SLOT(SYS_getppid);
	calls[1].jump_pos = -1;
	victim = pthread_self();
	thread_start(serve_after_signal, NULL);
	selector = DISPATCH_BLOCKS;
	ferry_batch_on(engine, rets, calls, 3, 0, 0);
	selector = DISPATCH_ALLOWS;
	_exit(dispatched == SYS_getppid && handled == 1 ? 0 : 3);
}

TEST(a_signal_over_the_start_of_user_dispatch_is_no_call)
{
	open_userfaultfd();
	if (prctl(PR_SET_SYSCALL_USER_DISPATCH, 1, 0, 0, &selector))
		suite_skip("this kernel has no syscall user dispatch");
	expect(!prctl(PR_SET_SYSCALL_USER_DISPATCH, 0, 0, 0, 0));
	expect_child(dispatch_late, NULL);
}

/* ---- the handler of a thread supplies the page that it waits for ---- */

static void fill_first_page(int sig)
{
	if (!copy_page((unsigned long)region))
		count_signal(sig);
}

static void *signal_at_fault(void *arg)
{
	(void)arg;
	next_fault();
	pthread_kill(victim, SIGUSR1);
	return NULL;
}

static void store_with_handler(void *arg)
{
	const struct batch_slot calls[2] = { SLOT(SYS_getppid), SLOT(SYS_getppid) };
	long *rets;

	(void)arg;
	make_region();
	rets = (long *)region;
	signal(SIGUSR1, fill_first_page);
	victim = pthread_self();
	thread_start(signal_at_fault, NULL);
	if (run_batch(rets, calls, 2) != 1)
		_exit(2);
	_exit(rets[0] == getppid() && rets[1] == getppid() && handled == 1 ? 0 : 3);
}

TEST(a_handler_may_make_room_for_the_result_that_its_thread_stores)
{
	open_userfaultfd();
	expect_child(store_with_handler, NULL);
}

/* ---- pages that are never served ---- */

static void wait_for_slots(void *arg)
{
	long ret;

	(void)arg;
	make_region();
	run_batch(&ret, (struct batch_slot *)region, 1);
}

static void wait_for_room(void *arg)
{
	const struct batch_slot call = SLOT(SYS_getpid);

	(void)arg;
	make_region();
	run_batch((long *)region, &call, 1);
}

static void wait_for_operand(void *arg)
{
	struct batch_slot calls[2] = { SLOT(SYS_getpid), SLOT(BATCH_WDCPY, arg, NULL) };
	long rets[2];

	make_region();
	calls[1].arg[0] = (long)rets;
	calls[1].arg[1] = (long)region;
	run_batch(rets, calls, 2);
}

TEST(a_fault_that_nobody_serves_is_waited_for_until_sigkill)
{
	static const child_fn bodies[] = { wait_for_slots, wait_for_room, wait_for_operand };
	size_t i;
	pid_t pid;

	open_userfaultfd();
	for (i = 0; i < ARRAY_SIZE(bodies); i++) {
		pid = child_start(bodies[i], NULL);
		expect_asleep(pid);
		usleep(20000);
		expect_asleep(pid);
		expect(!kill(pid, SIGKILL));
		expect_killed_by(pid, SIGKILL);
	}
}
