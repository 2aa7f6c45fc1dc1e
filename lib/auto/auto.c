// SPDX-License-Identifier: MIT
/*
 * The run time of programs that `ferry cc` compiled: whether their regions run as batches here, and
 * running one.  It is linked into each program, and needs nothing of libferry but its headers.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <ferry/auto.h>
#include <ferry/batchcall.h>

#include "region.h"

#define HIDDEN __attribute__((visibility("hidden")))
#define EMPTY_PATH 0x1000     /* AT_EMPTY_PATH */
#define RESTORER 0x04000000UL /* SA_RESTORER */
#define HIGH_DESCRIPTOR 1000  /* leaves low ones to programs that rely on them */
#define CACHE_LINE_BITS 512   /* as __builtin_alloca_with_align() wants it */
#define PRIORITY 102	      /* of constructors: before most, after 101, which may measure this */

HIDDEN unsigned int ferry_auto_state = FERRY_AUTO_OFF;

static int by_loop;	/* for tests: without an engine of one crossing, too */
static int device = -1; /* a descriptor of the module's, which makes batches; -1: batch() does */

/* glibc 2.32 and later; elsewhere there may always be other threads. */
extern char __libc_single_threaded __attribute__((weak));
const char *gnu_get_libc_version(void) __attribute__((weak));
/* The names of the wrappers that regions call, each once; the linker joins them. */
extern const char __start_ferry_wrappers __attribute__((weak)) HIDDEN;
extern const char __stop_ferry_wrappers __attribute__((weak)) HIDDEN;

/* ---- probing ---- */

/*
 * Whether a preloaded library, a sanitizer or the program itself has a function of these names. The
 * compiler adds a name that nobody has where a look-up would not find the program's own function.
 */
static int any_is_interposed(void)
{
	/* Of glibc 2.35: a reference would keep the program from starting with an older one. */
	int (*find)(void *address, struct dl_find_object *found) =
		dlsym(RTLD_DEFAULT, "_dl_find_object");
	const char *name = &__start_ferry_wrappers;
	struct dl_find_object libc;

	if (!find || find((void *)gnu_get_libc_version, &libc))
		return 1;
	for (; name < &__stop_ferry_wrappers; name += strlen(name) + 1) {
		const void *address = dlsym(RTLD_DEFAULT, name);

		if (address < libc.dlfo_map_start || address >= libc.dlfo_map_end)
			return 1;
	}
	return 0;
}

static int is_version(long answer)
{
	return answer > 0 && (answer & BATCH_VERSION_MASK) == BATCH_VERSION;
}

/* The program sees none of the descriptors that it would be given next. */
static int has_device(void)
{
	const int fd = (int)ferry_rawcall(SYS_openat, AT_FDCWD, (long)FERRY_DEVICE_PATH,
					  O_RDWR | O_CLOEXEC, 0, 0, 0);
	int high;

	if (fd < 0)
		return 0;
	high = (int)ferry_rawcall(SYS_fcntl, fd, F_DUPFD_CLOEXEC, HIGH_DESCRIPTOR, 0, 0, 0);
	ferry_rawcall(SYS_close, fd, 0, 0, 0, 0, 0);
	if (high < 0 || !is_version(ferry_rawcall(SYS_ioctl, high, FERRY_IOC_BATCH, 0, 0, 0, 0)))
		return 0;
	device = high;
	return 1;
}

/*
 * A filter may end a process for a call that it does not know, so none is tried where one is.  The
 * loop makes only the program's calls, and needs no such test.
 */
static int has_engine(const char *setting)
{
	if (ferry_rawcall(SYS_prctl, PR_GET_SECCOMP, 0, 0, 0, 0, 0) != 0)
		return 0;
	if (setting && !strcmp(setting, "device"))
		return has_device();
	return is_version(ferry_rawcall(FERRY_NR_BATCH, 0, 0, 0, 0, 0, 0));
}

/* What follows START in TEXT, or NULL. */
static const char *after(const char *text, const char *start)
{
	for (; *start; start++, text++)
		if (*text != *start)
			return NULL;
	return text;
}

/* FERRY_AUTO, as secure_getenv() finds it on a page that few programs need. */
static const char *find_setting(void)
{
	char **at = environ;
	const char *found = NULL;

	for (; at && *at && !found; at++)
		found = after(*at, "FERRY_AUTO=");
	return found && !getauxval(AT_SECURE) ? found : NULL;
}

static int is_useful(void)
{
	const char *setting;

	if (!gnu_get_libc_version || &__start_ferry_wrappers == &__stop_ferry_wrappers)
		return 0;
	setting = find_setting();
	by_loop = setting && !strcmp(setting, "loop");
	if ((setting && !strcmp(setting, "off")) || (!by_loop && !has_engine(setting)))
		return 0;
	return !any_is_interposed();
}

/* At the start: a region may be reached in a signal handler first, which may not call dlsym(). */
__attribute__((constructor(PRIORITY))) static void probe(void)
{
	if (is_useful())
		ferry_auto_state = FERRY_AUTO_ON;
}

/* ---- running ---- */

/* From 2.33 to 2.38. */
static int makes_newfstatat(void)
{
	const char *version = gnu_get_libc_version();

	return version[2] == '3' && version[3] >= '3' && version[3] <= '8';
}

/* A filter or a tracer has to see the call that the C library would make. */
static void use_newfstatat(struct batch_slot *slot)
{
	if (slot->nr != SYS_fstat || (int)slot->arg[0] < 0)
		return; /* a negative number is not AT_FDCWD, but fails */
	slot->nr = SYS_newfstatat;
	slot->argc = (unsigned char)(slot->argc + 2);
	slot->arg[2] = slot->arg[1];
	slot->arg[1] = (long)"";
	slot->arg[3] = EMPTY_PATH;
}

static void fill_in(struct batch_slot calls[], long values[],
		    const struct ferry_auto_region *region)
{
	const struct ferry_auto_fill *fill = (const void *)&region->slots[region->ncall];
	const struct ferry_auto_fill *const end = fill + region->nfill;
	long *words = memcpy(calls, region->slots, region->ncall * sizeof(*calls));
	unsigned int i;

	values[0] = (long)calls;
	for (; fill < end; fill++)
		words[fill->word] += values[fill->value];
	if (region->has_fstat && makes_newfstatat())
		for (i = 0; i < region->ncall; i++)
			use_newfstatat(&calls[i]);
}

/* Where the kernel leaves a batch, the program goes on; but half a call cannot be its own. */
static void run_in_kernel(long rets[], const struct batch_slot calls[], unsigned long ncall)
{
	const int fd = device;
	struct batch_args args;
	struct ferry_cursor cursor;
	long answer;

	ferry_batch_begin(&args, rets, calls, ncall);
	answer = fd < 0 ? ferry_batchcall_raw(FERRY_NR_BATCH, (long)&args, sizeof(args), 0) :
			  ferry_batchcall_raw(SYS_ioctl, fd, FERRY_IOC_BATCH, (long)&args);
	if (args.state != BATCH_BEGIN) {
		cursor = ferry_cursor_left(&args);
		ferry_end_slot(&cursor, &args, answer);
	} else if (answer == -EBADF || answer == -ENOTTY) {
		ferry_auto_state = FERRY_AUTO_OFF; /* the program closed the device */
	}
}

/* ferry_loop() without its care for slots that cannot be read. */
static void run_in_loop(long rets[], const struct batch_slot calls[], unsigned long ncall)
{
	unsigned long at = 0, head;
	short jump = 0;

	for (; at < ncall && jump >= 0; at += 1UL + (unsigned long)jump) {
		memcpy(&head, &calls[at], sizeof(head));
		rets[at] = ferry_loop_slot(&calls[at], head, rets, &rets[at]);
		jump = ferry_jump(head, rets[at]);
	}
}

HIDDEN int ferry_auto_run(long rets[], long values[], const struct ferry_auto_region *region)
{
	struct batch_slot *calls;
	unsigned int i;

	/* pthread_cancel() ends a thread only in the C library's own calls. */
	if (region->is_cancellable && (!&__libc_single_threaded || !__libc_single_threaded))
		return 0;
	calls = __builtin_alloca_with_align(region->ncall * sizeof(*calls), CACHE_LINE_BITS);
	fill_in(calls, values, region);
	for (i = 0; i < region->ncall; i++)
		rets[i] = FERRY_AUTO_NOT_MADE;
	if (by_loop)
		run_in_loop(rets, calls, region->ncall);
	else
		run_in_kernel(rets, calls, region->ncall);
	return 1;
}

HIDDEN long ferry_auto_failed(long result)
{
	errno = (int)-result;
	return -1;
}

/* ---- sigaction ---- */

/* The kernel's structure.  Debuggers know a frame of a handler by these very instructions. */
void ferry_auto_restore(void) HIDDEN;
__asm__(".text\n"
	".hidden ferry_auto_restore\n"
	".globl ferry_auto_restore\n"
	".type ferry_auto_restore, @function\n"
	"ferry_auto_restore:\n"
	"	movq $15, %rax\n"
	"	syscall\n"
	".size ferry_auto_restore, .-ferry_auto_restore\n");

HIDDEN void ferry_auto_action_in(struct ferry_auto_action *to, const struct sigaction *from)
{
	to->handler = from->sa_handler;
	to->flags = (unsigned int)from->sa_flags | RESTORER;
	to->restorer = ferry_auto_restore;
	memcpy(&to->mask, &from->sa_mask, sizeof(to->mask));
}

HIDDEN void ferry_auto_action_out(struct sigaction *to, const struct ferry_auto_action *from)
{
	to->sa_handler = from->handler;
	to->sa_flags = (int)from->flags;
	to->sa_restorer = from->restorer;
	memcpy(&to->sa_mask, &from->mask, sizeof(from->mask));
}
