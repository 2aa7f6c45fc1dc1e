/* SPDX-License-Identifier: MIT */
/*
 * Functions with the regions that ferry cc finds in them.  Above each: its calls, regions in
 * brackets, with a '*' after a call for each argument that is a copied word; the reasons for which
 * regions end, but for the function's end; and after "rule:" the rule without which this changes.
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <ferry/auto.h>

extern void other(void);
extern char *keep;
extern int global;
extern volatile int vol;
extern _Atomic int atom;

/* [open fstat mmap* close] */
long map_file(const char *path, void **map)
{
	struct stat st;
	void *p = MAP_FAILED;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return -1;
	if (fstat(fd, &st) == 0)
		p = mmap(NULL, st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	*map = p;
	return p == MAP_FAILED ? -1 : st.st_size;
}

/* [socket setsockopt setsockopt bind listen close] */
int listen_on(const struct sockaddr *address, socklen_t length)
{
	int one = 1, fd = socket(AF_INET, SOCK_STREAM, 0);

	if (fd < 0)
		return -1;
	if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)) < 0 ||
	    setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &one, sizeof(one)) < 0 ||
	    bind(fd, address, length) < 0 || listen(fd, 16) < 0) {
		close(fd);
		return -1;
	}
	return fd;
}

/* [open open open] */
int search(const char *a, const char *b, const char *c)
{
	int fd = open(a, O_RDONLY);

	if (fd < 0)
		fd = open(b, O_RDONLY);
	if (fd < 0)
		fd = open(c, O_RDONLY);
	return fd;
}

/* [sigaction sigaction sigaction] */
int signals(void (*handler)(int))
{
	struct sigaction action = { .sa_handler = handler };
	int bad;

	sigemptyset(&action.sa_mask);
	bad = sigaction(SIGHUP, &action, NULL);
	action.sa_handler = SIG_IGN;
	bad |= sigaction(SIGPIPE, &action, NULL);
	action.sa_handler = SIG_DFL;
	return bad | sigaction(SIGCHLD, &action, NULL);
}

/* sigaction sigaction ends: computed rule: action-copies */
int same_action(void)
{
	struct sigaction action;

	sigaction(SIGHUP, NULL, &action);
	return sigaction(SIGINT, &action, NULL);
}

/* [open read close] */
long keeps_errno(const char *path)
{
	int fd = open(path, O_RDONLY), error;
	char byte;
	long n;

	if (fd < 0)
		return -1;
	n = read(fd, &byte, 1);
	error = errno;
	close(fd);
	errno = error;
	return n + byte;
}

/* open fstat close ends: condition condition */
int content(const char *path)
{
	struct stat st;
	int fd = open(path, O_RDONLY);

	if (fd == 7 || fstat(fd, &st) < 0 || st.st_size > 10)
		return -1;
	return close(fd);
}

/* [open fsync] close ends: failed-result rule: failed-result */
int failed(const char *path, int other_fd)
{
	int fd = open(path, O_RDONLY);

	fsync(other_fd);
	return close(fd);
}

/* [open close] */
int failed_directly(const char *path)
{
	return close(open(path, O_RDONLY));
}

/* read read ends: overwrites rule: overwrite */
int antidependence(int fd)
{
	char buffer[8];
	int head;

	if (read(fd, buffer, 8) < 0)
		return -1;
	head = buffer[0];
	if (read(fd, buffer, 8) < 0)
		return -1;
	return head;
}

/* socket setsockopt ends: overwritten rule: read-after-store */
int stored(void)
{
	int fd = socket(AF_INET, SOCK_STREAM, 0), value = fd & 1;

	return setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &value, sizeof(value));
}

/* dup write ends: overwritten rule: early-store-uses */
int seen_early(int fd, int n)
{
	char text[4];

	memcpy(text, &n, 4);
	fd = dup(fd);
	if (fd < 0)
		return text[n & 3];
	text[0] = 9;
	return write(fd, text, 4);
}

/* fsync fsync ends: order rule: order */
int shared(int fd)
{
	fsync(fd);
	global = 1;
	return fsync(fd);
}

/* [fsync dup] */
int shared_before_a_quiet_call(int fd)
{
	fsync(fd);
	global = 1;
	return dup(fd);
}

/* fsync fsync ends: order rule: captured */
int captured(int fd)
{
	char byte = 0;

	keep = &byte;
	fsync(fd);
	byte = 1;
	fsync(fd);
	return byte;
}

/* fsync dup ends: volatile rule: volatile */
int is_volatile(int fd)
{
	fsync(fd);
	vol = 1;
	return dup(fd);
}

/* fsync dup ends: volatile rule: volatile */
int is_atomic(int fd)
{
	fsync(fd);
	atomic_store_explicit(&atom, 1, memory_order_relaxed);
	return dup(fd);
}

/* fsync dup ends: volatile rule: volatile */
int is_fenced(int fd)
{
	fsync(fd);
	atomic_thread_fence(memory_order_seq_cst);
	return dup(fd);
}

/* fsync dup ends: volatile rule: volatile */
int is_exchanged(int fd)
{
	fsync(fd);
	atomic_fetch_add(&atom, 1);
	return dup(fd);
}

/* fsync fsync ends: assembly rule: assembly */
int assembly(int fd)
{
	fsync(fd);
	__asm__ volatile("");
	return fsync(fd);
}

/* fsync fsync ends: unknown-call rule: unknown-call */
int unknown(int fd)
{
	fsync(fd);
	other();
	return fsync(fd);
}

/* fsync fsync ends: call-by-pointer rule: unknown-call */
int by_pointer(int fd, void (*function)(void))
{
	fsync(fd);
	function();
	return fsync(fd);
}

/* [fsync fsync] */
int pure(int fd, const char *text)
{
	char copy[16];
	size_t length;

	memcpy(copy, text, 15);
	copy[15] = 0;
	fsync(fd);
	length = strlen(copy);
	return fsync(fd) + (int)length;
}

/* fsync fsync ends: other-way rule: dominance */
int otherwise(int fd, int other_fd, int flag)
{
	int n = 0;

	if (flag)
		n = fsync(fd);
	return n + fsync(other_fd);
}

/* [fsync fdatasync] ends: condition */
int inner(int fd, int n)
{
	int i;

	fsync(fd);
	for (i = 0; i < n; i++)
		fdatasync(fd);
	return i;
}

/* [fsync fdatasync ftruncate] */
int chosen(int fd, int flag)
{
	fsync(fd);
	if (flag)
		fdatasync(fd);
	return ftruncate(fd, 0);
}

/* fsync ends: not-a-wrapper rule: needs */
int needs_flags(int fd, const char *path, int flags, mode_t mode)
{
	fsync(fd);
	return open(path, flags, mode);
}

/* fsync ends: not-a-wrapper rule: needs */
int needs_command(int fd, int command)
{
	fsync(fd);
	return fcntl(fd, command, 1);
}

/* fsync write ends: errno errno rule: errno */
long of_errno(int fd)
{
	errno = 0;
	fsync(fd);
	return write(fd, &errno, sizeof(errno));
}

/* [fsync posix_fadvise*] rule: load-order */
int loaded_in_order(int fd, const long *place)
{
	fsync(fd);
	return posix_fadvise(fd, *place, 0, 0);
}

/* [pipe posix_fadvise] */
int loaded_ahead(int fd, const long *place)
{
	int ends[2];

	pipe(ends);
	return posix_fadvise(fd, *place, 0, 0) + ends[0];
}

/* [dup posix_fadvise*] rule: load-speculated */
int loaded_seldom(int fd, const long *place)
{
	return dup(fd) < 0 ? -1 : posix_fadvise(fd, *place, 0, 0);
}

/* [pread posix_fadvise*] rule: load-written */
int loaded_of_result(int fd)
{
	long words[4];

	pread(fd, words, sizeof(words), 0);
	return posix_fadvise(fd, words[1], 0, 0);
}

/* fsync posix_fadvise ends: stored rule: load-stored */
int loaded_of_store(int fd, int n, const long *from)
{
	long words[4];

	memcpy(words, from, sizeof(words));
	fsync(fd);
	words[n & 3] = n;
	return posix_fadvise(fd, words[1], 0, 0);
}

/* fsync posix_fadvise ends: stored rule: copy-stored */
int copied_of_store(int fd, int n, const long *from)
{
	long words[4];

	memcpy(words, from, sizeof(words));
	fsync(fd);
	words[n & 3] = n;
	return posix_fadvise(fd, words[1], 0, 0);
}

/* [pipe fcntl* fcntl*] */
int half_of_word(void)
{
	int ends[2];

	if (pipe(ends) < 0)
		return -1;
	return fcntl(ends[0], F_SETFD, FD_CLOEXEC) | fcntl(ends[1], F_SETFD, FD_CLOEXEC);
}

/* pipe fstat ends: computed */
int half_for_fstat(struct stat *st)
{
	int ends[2];

	return pipe(ends) < 0 ? -1 : fstat(ends[0], st);
}

/* lseek posix_fadvise ends: computed */
int computed(int fd)
{
	return posix_fadvise(fd, lseek(fd, 0, SEEK_END) + 1, 0, 0);
}

/* read dup ends: cut */
int cut(int fd, void *buffer)
{
	long n = read(fd, buffer, 8);

	return n < 0 ? -1 : dup((int)n);
}

/* rule: left-alone */
FERRY_NEVER int never(int fd)
{
	fsync(fd);
	return fsync(fd);
}

/* rule: left-alone */
__attribute__((cold)) int cold(int fd)
{
	fsync(fd);
	return fsync(fd);
}

/* fsync fsync ends: cold cold rule: cold */
int before_the_end(int fd)
{
	if (fsync(fd) < 0) {
		fsync(2);
		abort();
	}
	return 0;
}

/* fsync fsync ends: cold cold rule: cold */
int not_expected(int fd, int flag)
{
	fsync(fd);
	return __builtin_expect(flag, 0) ? fsync(2) : 0;
}

/* [open read close] ends: condition */
long tries_again(const char *path, char *to)
{
	int fd = open(path, O_RDONLY);
	long n;

	if (fd < 0)
		return -1;
	do
		n = read(fd, to, 1);
	while (n < 0 && errno == EINTR);
	close(fd);
	return n;
}

/* rule: left-alone */
int jumps(int fd)
{
	static jmp_buf there;
	int n = setjmp(there);

	fsync(fd);
	return n + fsync(fd);
}

/* [lstat lstat] */
FERRY_INDEPENDENT int independent(const char *a, const char *b, struct stat *st, int *result)
{
	result[0] = lstat(a, st);
	result[1] = lstat(b, st + 1);
	return 0;
}

/* [lstat lstat lstat lstat lstat lstat lstat lstat] lstat ends: loop loop */
FERRY_INDEPENDENT void many_blocks_a_turn(const char *const *names, const struct stat *known)
{
	for (size_t i = 0; i < 64; i++) {
		struct stat now;

		if (lstat(names[i], &now) < 0)
			global += errno == ENOENT;
		else if (now.st_size != known[i].st_size || now.st_mtime != known[i].st_mtime ||
			 now.st_mode != known[i].st_mode)
			global++;
	}
}

/* socket umask ends: computed rule: copy-errno */
int mask_of_memory(int *may_be_errno)
{
	socket(-1, -1, -1);
	return umask(*may_be_errno);
}

/* socket umask ends: computed rule: load-errno */
int mask_of_sum(int *may_be_errno)
{
	socket(-1, -1, -1);
	return umask(*may_be_errno + 1);
}
