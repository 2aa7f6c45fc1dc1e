// SPDX-License-Identifier: MIT
#include "workload.h"

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cli/program_file.h"
#include "common/file.h"
#include "common/memory.h"
#include "common/messages.h"
#include "measure/harness/empty.h"
#include "slot.h"

#define PATH "/etc/passwd"
#define MISSING "/etc/ferry-bench-missing"

#define A_FILE "" /* one of this process, without a name */

/* With --directory; longer than what a few batches write, so that it does not grow. */
#define FILE_NAME "ferry-bench-file"
#define FILE_SIZE 4096

/* A number that no call has, within the table of x86-64's calls; UNIMPLEMENTED is beyond it. */
#define WITHIN 400

static char byte, page[4096];
static long word;
static struct stat status;
static struct statx status_x;

enum {
	WRITES = 1,  /* to the file that it opens */
	IN_TREE = 2, /* opens a file of --directory where that is given */
	BY_PATH = 4, /* names that file by its second argument */
	WHOLE = 8,   /* forwards arguments, copies words or jumps */
};

/* A call whose first argument may be a descriptor of the file OPENED. */
struct call {
	const char *name, *label, *opened;
	int flags;
	struct batch_slot slot;
	long error; /* that the call fails with; 0 if it works */
};

/* clang-format off */
static const struct call calls[] = {
	{ "unimplemented", "unimplemented call", NULL, 0, { .nr = UNIMPLEMENTED }, -ENOSYS },
	{ "within", "unimplemented, within the table", NULL, 0, { .nr = WITHIN }, -ENOSYS },
	{ "jumps", "within the table, and looking at the jumps", NULL, WHOLE,
	  { .nr = WITHIN, .jump_pos = -1 }, -ENOSYS },
	{ "forwarded", "within the table, an argument forwarded", NULL, WHOLE,
	  { CALL_FORWARDED(WITHIN, 0), .from = { 1 } }, -ENOSYS },
	{ "word_copy", "word copy", NULL, WHOLE,
	  { CALL(BATCH_WDCPY, (long)&word, (long)&word) } },
	{ "getppid", "getppid", NULL, 0, { .nr = SYS_getppid } },
	{ "read", "read, 1 byte of /dev/zero", "/dev/zero", 0,
	  { CALL(SYS_read, 0, (long)&byte, 1) } },
	{ "pread", "pread, 1 byte of a cached file", A_FILE, 0,
	  { CALL(SYS_pread64, 0, (long)page, 1, 0) } },
	{ "pread_page", "pread, 4096 bytes of a cached file", A_FILE, 0,
	  { CALL(SYS_pread64, 0, (long)page, sizeof(page), 0) } },
	{ "write", "write, 1 byte to /dev/null", "/dev/null", WRITES | IN_TREE,
	  { CALL(SYS_write, 0, (long)&byte, 1) } },
	/* Without a descriptor, any number of these can be made. */
	{ "openat", "openat of a name that is not there", NULL, 0,
	  { CALL(SYS_openat, AT_FDCWD, (long)MISSING, O_RDONLY) }, -ENOENT },
	{ "close", "close of no descriptor", NULL, 0, { CALL(SYS_close, -1) }, -EBADF },
	{ "fstat", "fstat of " PATH, PATH, IN_TREE, { CALL(SYS_fstat, 0, (long)&status) } },
	{ "lstat", "lstat of " PATH " (newfstatat)", NULL, IN_TREE | BY_PATH,
	  { CALL(SYS_newfstatat, AT_FDCWD, (long)PATH, (long)&status, AT_SYMLINK_NOFOLLOW) } },
	{ "statx", "statx of " PATH, NULL, IN_TREE | BY_PATH,
	  { CALL(SYS_statx, AT_FDCWD, (long)PATH, 0, STATX_BASIC_STATS, (long)&status_x) } },
};
/* clang-format on */

/* options.c refuses all other names. */
static const struct call *find(const char *name)
{
	const struct call *call = calls;

	while (strcmp(call->name, name) != 0)
		call++;
	return call;
}

static void *allocate_aligned(size_t size)
{
	const size_t page = 4096;
	void *memory = aligned_alloc(page, (size + page - 1) & -page);

	if (!memory)
		errx(EXIT_USAGE, "out of memory");
	memset(memory, 0, size);
	return memory;
}

/* A page in the page cache, of a file on a disk if possible. */
static int open_temporary_file(void)
{
	const char *directory = getenv("TMPDIR");
	int fd = open(directory ? directory : "/var/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	if (fd < 0)
		fd = memfd_create("ferry-bench", MFD_CLOEXEC);
	if (fd >= 0 && write(fd, page, sizeof(page)) == (ssize_t)sizeof(page))
		return fd;
	complain("bench: no temporary file: %s", strerror(errno));
	if (fd >= 0)
		close(fd);
	return -ENOSPC;
}

/* The first argument of a call on the file OPENED, or -errno after complaining. */
static int open_file(const char *opened, int mode)
{
	int fd = *opened ? open(opened, mode | O_CLOEXEC) : open_temporary_file();

	if (fd >= 0 || !*opened)
		return fd;
	fd = -errno;
	complain("bench: %s: cannot open: %s", opened, strerror(errno));
	return fd;
}

/* The path of a new file in DIRECTORY, or NULL after complaining. */
static const char *make_file(const char *directory)
{
	static const char zeros[FILE_SIZE];
	const char *path = keep_text("%s/" FILE_NAME, directory);

	return write_file(path, zeros, sizeof(zeros)) ? NULL : path;
}

int workload_open(struct workload *workload, const char *name, unsigned long copies,
		  const char *directory)
{
	const struct call *call = find(name);
	struct batch_slot slot = call->slot;
	const char *file = NULL;
	unsigned long i;
	int fd = -1;

	if (directory && call->flags & IN_TREE) {
		file = make_file(directory);
		if (!file)
			return -EIO;
	}
	if (file && call->flags & BY_PATH) {
		fd = open_file(directory, O_PATH | O_DIRECTORY);
		slot.arg[1] = (long)FILE_NAME;
	} else if (call->opened) {
		fd = file ? open_file(file, O_RDWR) :
			    open_file(call->opened, call->flags & WRITES ? O_WRONLY : O_RDONLY);
	}
	if (fd < -1)
		return fd;
	if (fd >= 0)
		slot.arg[0] = fd;
	*workload = (struct workload){
		.name = call->name,
		.label = file ? keep_text("%s, in %s", name, directory) : call->label,
		.body = 1,
		.loaded = { .slots = allocate_aligned(copies * sizeof(slot)),
			    .rets = allocate_aligned(copies * sizeof(long)),
			    .ncall = copies },
		.whole = call->flags & WHOLE,
		.fd = fd,
		.file = file,
	};
	for (i = 0; i < copies; i++)
		workload->loaded.slots[i] = slot;
	/* No slot is before the first. */
	workload->loaded.slots[0].argc &= (unsigned char)~BATCH_ARGC_FORWARD;
	return 0;
}

static void complain_about_copies(const char *path, unsigned long copies, unsigned long body,
				  int error)
{
	if (error == -E2BIG)
		complain("bench: %s: %lu copies of its %lu slots are more than a program may have; "
			 "give smaller --sizes",
			 path, copies, body);
	else
		complain("bench: %s: out of memory for %lu copies", path, copies);
}

int workload_load(struct workload *workload, const char *path, unsigned long copies)
{
	struct image *image = read_program(path);
	unsigned long body = image ? image_slot_count(image) : 0;
	int error;

	*workload = (struct workload){
		.name = path, .label = path, .body = body, .image = image, .whole = true, .fd = -1
	};
	if (!image)
		return -EINVAL;
	if (!body) {
		complain("bench: %s: an empty program has nothing to time", path);
		image_free(image);
		return -EINVAL;
	}
	error = image_load_copies(image, copies, &workload->loaded);
	if (!error)
		return 0;
	complain_about_copies(path, copies, body, error);
	image_free(image);
	return error;
}

void workload_close(struct workload *workload)
{
	if (workload->fd >= 0)
		close(workload->fd);
	if (workload->file)
		unlink(workload->file);
	image_unload(&workload->loaded);
	image_free(workload->image);
	*workload = (struct workload){ .fd = -1 };
}

/* The first write after the clock's tick also changes the time of the file. */
void workload_rewind(const struct workload *workload)
{
	if (workload->file && pwrite(workload->fd, &byte, sizeof(byte), 0) > 0)
		lseek(workload->fd, 0, SEEK_SET);
}

static enum outcome_of_batch judge_result(const struct call *call, long result)
{
	if (call->error ? result == call->error : result >= 0)
		return BATCH_WORKED;
	if (call->error == -ENOSYS && result == -EPERM)
		return BATCH_FILTERED;
	if (result == -EPERM)
		return BATCH_FORBIDDEN;
	complain("bench: %s gives %ld here", call->name, result);
	return BATCH_FAILED;
}

enum outcome_of_batch workload_outcome(const struct workload *workload, unsigned long size,
				       long last)
{
	const struct call *call = workload->image ? NULL : find(workload->name);
	enum outcome_of_batch outcome = BATCH_WORKED;
	unsigned long i;

	if (last < 0 || (call && last != (long)size - 1)) {
		complain("bench: %s: a batch of %lu gives %ld", workload->name, size, last);
		return BATCH_FAILED;
	}
	for (i = 0; call && i < size && outcome == BATCH_WORKED; i++)
		outcome = judge_result(call, workload->loaded.rets[i]);
	return outcome;
}
