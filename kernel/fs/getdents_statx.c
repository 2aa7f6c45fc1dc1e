// SPDX-License-Identifier: GPL-2.0
/*
 * getdents_statx(): names of a directory and the attributes of what they name, in one call.
 * Documentation/userspace-api/getdents_statx.rst describes the semantics.
 */
#include <linux/audit.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/namei.h>
#include <linux/sched/signal.h>
#include <linux/stat.h>
#include <linux/syscalls.h>
#include <linux/uaccess.h>
#include <uapi/linux/getdents_statx.h>

#include "internal.h"

/* An entry as the file system gave it. */
struct name {
	loff_t offset; /* of the entry in the directory */
	u64 ino;
	u8 type;
	u8 len;
	char text[];
};

/* Names, which are looked up when the directory is no longer locked. */
struct names {
	struct dir_context ctx;
	void *first, *end; /* in a page */
	size_t room; /* in the caller's buffer */
	int error;
};

static size_t name_size(size_t len)
{
	return ALIGN(offsetof(struct name, text[len + 1]), sizeof(u64));
}

static size_t entry_size(size_t len)
{
	return ALIGN(offsetof(struct dirent_statx, name[len + 1]), sizeof(u64));
}

static bool add_name(struct dir_context *ctx, const char *text, int len, loff_t offset, u64 ino,
		     unsigned int type)
{
	struct names *names = container_of(ctx, struct names, ctx);
	struct name *name = names->end;

	names->error = len > NAME_MAX ? -EIO : verify_dirent_name(text, len);
	if (names->error)
		return false;
	if (entry_size(len) > names->room) {
		names->error = -EINVAL; /* only for the first entry */
		return false;
	}
	if (name_size(len) > names->first + PAGE_SIZE - names->end)
		return false;
	*name = (struct name){ .offset = offset, .ino = ino, .type = type, .len = len };
	memcpy(name->text, text, len);
	name->text[len] = '\0';
	names->end += name_size(len);
	names->room -= entry_size(len);
	return true;
}

/*
 * Attributes of NAME in DIR, if the name is no more than a file: not a mount point, for example.
 * For all others and after any error, statx() itself has to be asked.
 */
static int get_attributes(const struct file *dir, const struct name *name, struct kstat *stat,
			  unsigned int mask, unsigned int flags)
{
	struct path path = { .mnt = dir->f_path.mnt };
	int error = -EXDEV;

	if (!d_can_lookup(dir->f_path.dentry))
		return -ENOTDIR;
	path.dentry = lookup_one_positive_unlocked(mnt_idmap(path.mnt),
						   &QSTR_LEN(name->text, name->len),
						   dir->f_path.dentry);
	if (IS_ERR(path.dentry))
		return PTR_ERR(path.dentry);
	if (!(path.dentry->d_flags & DCACHE_MANAGED_DENTRY))
		error = vfs_statx_path(&path, flags, stat, mask);
	dput(path.dentry);
	return error;
}

static int put_entry(struct dirent_statx __user *entry, const struct name *name)
{
	const size_t size = entry_size(name->len);

	if (!user_write_access_begin(entry, size))
		return -EFAULT;
	unsafe_put_user(name->ino, &entry->ino, fault);
	unsafe_put_user(size, &entry->reclen, fault);
	unsafe_put_user(name->type, &entry->type, fault);
	unsafe_put_user(0, &entry->stat.stx_mask, fault);
	unsafe_copy_to_user(entry->name, name->text, name->len + 1, fault);
	user_write_access_end();
	return 0;
fault:
	user_write_access_end();
	return -EFAULT;
}

/* Writes the entries of NAMES to *ENTRY, which moves on. */
static int put_entries(struct file *dir, const struct names *names, void __user **entry,
		       unsigned int mask, unsigned int flags)
{
	const struct name *name;
	struct kstat stat;
	void *at;
	int error;

	for (at = names->first; at < names->end; at += name_size(name->len)) {
		name = at;
		error = at > names->first && signal_pending(current) ? -ERESTARTSYS :
			put_entry(*entry, name);
		if (!error && !get_attributes(dir, name, &stat, mask, flags))
			error = cp_statx(&stat, &((struct dirent_statx __user *)*entry)->stat);
		if (error) {
			/* The next call reads this entry again. */
			vfs_llseek(dir, name->offset, SEEK_SET);
			return error;
		}
		*entry += entry_size(name->len);
	}
	return 0;
}

SYSCALL_DEFINE5(getdents_statx, unsigned int, fd, struct dirent_statx __user *, entries,
		size_t, size, unsigned int, mask, unsigned int, flags)
{
	CLASS(fd_pos, f)(fd);
	struct names names = { .ctx.actor = add_name };
	void __user *next = entries;
	int error;

	if (flags & ~AT_STATX_SYNC_TYPE || flags == AT_STATX_SYNC_TYPE || mask & STATX__RESERVED)
		return -EINVAL;
	if (fd_empty(f))
		return -EBADF;
	/* Records of the audit system are to have the paths of single calls. */
	if (!audit_dummy_context())
		return -EOPNOTSUPP;
	names.first = (void *)__get_free_page(GFP_KERNEL);
	if (!names.first)
		return -ENOMEM;
	names.room = min_t(size_t, size, MAX_RW_COUNT);
	do {
		names.end = names.first;
		names.error = 0;
		error = iterate_dir(fd_file(f), &names.ctx) ?: names.error;
		if (names.end == names.first)
			break;
		error = put_entries(fd_file(f), &names, &next, mask, flags) ?: error;
		cond_resched();
	} while (!error);
	free_page((unsigned long)names.first);
	return next > (void __user *)entries ? next - (void __user *)entries : error;
}
