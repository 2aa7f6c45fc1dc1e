// SPDX-License-Identifier: MIT
#include "crossing_calls.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include <ferry/rawcall.h>
#include <linux/ferry.h>

#include "empty.h"
#include "unimplemented.h"

#define FILE_PATH "/etc/passwd"

static int zero = -1, null = -1, file = -1;

/* What the calls write to. */
static struct timespec time_now;
static struct timeval time_of_day;
static struct stat status;
static char byte;
static long kstats[7]; /* struct kstats as it was first published */

#define RAW(nr, a, b) ferry_rawcall(nr, (long)(a), (long)(b), 0, 0, 0, 0)

/* The barrier keeps each turn of the loop a turn. */
#define LOOP(name, call)                                   \
	static void loop_##name(unsigned long calls)       \
	{                                                  \
		unsigned long i;                           \
                                                           \
		for (i = 0; i < calls; i++) {              \
			call;                              \
			__asm__ volatile("" ::: "memory"); \
		}                                          \
	}

LOOP(empty, )
LOOP(function, empty_function())
LOOP(clock_gettime_vdso, clock_gettime(CLOCK_REALTIME, &time_now))
LOOP(gettimeofday_vdso, gettimeofday(&time_of_day, NULL))
LOOP(gettimeofday_trap, RAW(SYS_gettimeofday, &time_of_day, NULL))
LOOP(getpid_libc, (void)getpid())
LOOP(getpid_raw, RAW(SYS_getpid, 0, 0))
LOOP(unimplemented, RAW(UNIMPLEMENTED, 0, 0))
LOOP(null, RAW(FERRY_NR_NULL, 0, 0))
LOOP(kstats, RAW(FERRY_NR_KSTATS, kstats, sizeof(kstats)))
LOOP(read, (void)!read(zero, &byte, 1))
LOOP(write, (void)!write(null, &byte, 1))
LOOP(stat, stat(FILE_PATH, &status))
LOOP(fstat, fstat(file, &status))
LOOP(open_close, close(open(FILE_PATH, O_RDONLY | O_CLOEXEC)))

static const char *missing_call(long answer)
{
	if (answer >= 0)
		return NULL;
	return answer == -ENOSYS ? "not on this kernel: ferry's patch series has it" :
				   "this kernel has the number for something else";
}

static const char *missing_null(void)
{
	return missing_call(RAW(FERRY_NR_NULL, 0, 0));
}

static const char *missing_kstats(void)
{
	return missing_call(RAW(FERRY_NR_KSTATS, kstats, sizeof(kstats)));
}

static const char *missing_unimplemented(void)
{
	return RAW(UNIMPLEMENTED, 0, 0) == -ENOSYS ? NULL : "this kernel has the number for a call";
}

static const char *missing_zero(void)
{
	return zero < 0 ? "/dev/zero cannot be opened" : NULL;
}

static const char *missing_device(void)
{
	return null < 0 ? "/dev/null cannot be opened" : NULL;
}

static const char *missing_file(void)
{
	return file < 0 ? FILE_PATH " cannot be opened" : NULL;
}

const struct kind crossing_kinds[] = {
	{ "loop", "empty loop", loop_empty, NULL },
	{ "function", "empty function call", loop_function, NULL },
	{ "clock_gettime_vdso", "clock_gettime, vDSO", loop_clock_gettime_vdso, NULL },
	{ "gettimeofday_vdso", "gettimeofday, vDSO", loop_gettimeofday_vdso, NULL },
	{ "gettimeofday_trap", "gettimeofday, trap", loop_gettimeofday_trap, NULL },
	{ "getpid_libc", "getpid, libc", loop_getpid_libc, NULL },
	{ "getpid_raw", "getpid, raw", loop_getpid_raw, NULL },
	{ "unimplemented", "unimplemented call", loop_unimplemented, missing_unimplemented },
	{ "null", "null", loop_null, missing_null },
	{ "kstats", "kstats", loop_kstats, missing_kstats },
	{ "read", "read, 1 byte of /dev/zero", loop_read, missing_zero },
	{ "write", "write, 1 byte to /dev/null", loop_write, missing_device },
	{ "stat", "stat " FILE_PATH, loop_stat, missing_file },
	{ "fstat", "fstat", loop_fstat, missing_file },
	{ "open_close", "open and close " FILE_PATH, loop_open_close, missing_file },
};

const size_t crossing_kind_count = sizeof(crossing_kinds) / sizeof(crossing_kinds[0]);

void open_crossing_files(void)
{
	zero = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	null = open("/dev/null", O_WRONLY | O_CLOEXEC);
	file = open(FILE_PATH, O_RDONLY | O_CLOEXEC);
}

static void close_file(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

void close_crossing_files(void)
{
	close_file(&zero);
	close_file(&null);
	close_file(&file);
}
