// SPDX-License-Identifier: MIT
#include "cold.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <linux/loop.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

/* Its <linux/fs.h> and that of the C library declare the same. */
#include <sys/syscall.h>

#include "common/memory.h"
#include "measure/harness/process.h"

#define IN_A_DIRECTORY 1000

/* From <linux/mount.h>, which does not go with <sys/mount.h> on every system. */
#define SET_FLAG 0
#define SET_STRING 1
#define CREATE 6
#define CLOEXEC 1

static const char *because(const char *what)
{
	return keep_text("no file system on a loop device: %s: %s", what, strerror(errno));
}

static int make_image(const struct file_set *like)
{
	/* ext4 has an inode for each 16 KiB. */
	size_t size = ((size_t)64 << 20) + like->count * ((size_t)16 << 10);
	int image = open("/var/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	size_t i;

	for (i = 0; i < like->count; i++)
		size += 2 * like->sizes[i];
	size &= ~(((size_t)1 << 20) - 1);
	if (image >= 0 && !ftruncate(image, (off_t)size))
		return image;
	if (image >= 0)
		close(image);
	return -1;
}

static const char *attach(struct cold *cold, int image)
{
	struct loop_config config = {
		.fd = (unsigned int)image,
		.info.lo_flags = LO_FLAGS_DIRECT_IO | LO_FLAGS_AUTOCLEAR,
	};
	int control = open("/dev/loop-control", O_RDWR | O_CLOEXEC), number = -1;
	const char *missing = NULL;

	if (control >= 0)
		number = ioctl(control, LOOP_CTL_GET_FREE);
	if (number < 0) {
		missing = because("/dev/loop-control");
	} else {
		cold->path = keep_text("/dev/loop%d", number);
		cold->device = open(cold->path, O_RDWR | O_CLOEXEC);
		if (cold->device < 0 || ioctl(cold->device, LOOP_CONFIGURE, &config))
			missing = because(cold->path);
	}
	if (control >= 0)
		close(control);
	return missing;
}

static const char *format(const struct cold *cold)
{
	char *argv[] = { keep_text("mkfs.ext4"), keep_text("-qF"), cold->path, NULL };
	struct outcome outcome = process_run(&(struct process){ argv, NULL, -1, -1 });

	if (!outcome.status)
		return NULL;
	return keep_text("no file system on a loop device: mkfs.ext4 %s",
			 outcome.status < 0 ? "is not installed" : "failed");
}

static void unmount(struct cold *cold)
{
	if (fchdir(cold->before) || cold->set.dir < 0)
		return;
	close(cold->set.dir);
	cold->set.dir = -1;
	/* What the device itself has in memory. */
	ioctl(cold->device, BLKFLSBUF, 0);
}

const char *cold_mount(struct cold *cold, bool to_write)
{
	int context;

	unmount(cold);
	context = (int)syscall(SYS_fsopen, "ext4", CLOEXEC);
	if (context >= 0 && !syscall(SYS_fsconfig, context, SET_STRING, "source", cold->path, 0) &&
	    (to_write || !syscall(SYS_fsconfig, context, SET_FLAG, "ro", NULL, 0)) &&
	    !syscall(SYS_fsconfig, context, CREATE, NULL, NULL, 0))
		cold->set.dir = (int)syscall(SYS_fsmount, context, CLOEXEC, 0);
	if (context >= 0)
		close(context);
	return cold->set.dir < 0 || fchdir(cold->set.dir) ? because("fsmount") : NULL;
}

static const char *fill(struct cold *cold)
{
	static const char contents[LARGEST_FILE];
	struct file_set *set = &cold->set;
	size_t i;
	int fd;

	for (i = 0; i < set->count; i++) {
		if (i % IN_A_DIRECTORY == 0)
			mkdir(keep_text("%zu", i / IN_A_DIRECTORY), 0700);
		set->names[i] = keep_text("%zu/%zu", i / IN_A_DIRECTORY, i);
		fd = open(set->names[i], O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
		if (fd < 0 || write(fd, contents, set->sizes[i]) < 0)
			return because(set->names[i]);
		close(fd);
	}
	return NULL;
}

const char *cold_make(struct cold *cold, const struct file_set *like)
{
	int image = make_image(like);
	const char *missing;

	*cold = (struct cold){ .set = *like, .device = -1 };
	cold->set.dir = -1;
	cold->set.names = keep(like->count, sizeof(char *));
	cold->before = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	missing = image < 0 ? because("/var/tmp") : attach(cold, image);
	if (image >= 0)
		close(image);
	if (!missing)
		missing = format(cold);
	if (!missing)
		missing = cold_mount(cold, true);
	return missing ? missing : fill(cold);
}

void cold_end(struct cold *cold)
{
	unmount(cold);
	close(cold->before);
	if (cold->device >= 0)
		close(cold->device);
}
