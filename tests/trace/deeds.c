// SPDX-License-Identifier: MIT
/* What is hard on a tracer, one deed for each argument: test_collecting.py names them. */
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/futex.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t signals_seen;

static void note(int number)
{
	(void)number;
	signals_seen++;
}

static void calls(int count)
{
	while (count--)
		syscall(SYS_getppid);
}

static void crash(void)
{
	calls(100);
	abort();
}

static void fork_many(int count)
{
	while (count--) {
		pid_t child = fork();

		if (!child) {
			calls(1);
			_exit(0);
		}
		waitpid(child, NULL, 0);
	}
}

static void *count_in_thread(void *unused)
{
	calls(1000);
	return unused;
}

static void start_threads(void)
{
	pthread_t threads[4];
	int i;

	for (i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, count_in_thread, NULL);
	for (i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
}

/* The first thread has long begun to wait, so that its calls are the same each time. */
static void *execute(void *program)
{
	usleep(100000);
	execl(program, program, "calls", (char *)NULL);
	return NULL;
}

/* The thread takes the place of its process; the first thread would wait for ever. */
static void execute_in_thread(char *program)
{
	pthread_t thread;

	pthread_create(&thread, NULL, execute, program);
	pthread_join(thread, NULL);
	pause();
}

/* getppid() fails with EXDEV, and getuid() kills. */
static void filter(void)
{
	struct sock_filter rules[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getppid, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EXDEV),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getuid, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof(rules) / sizeof(*rules), rules };

	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
	calls(50);
	syscall(SYS_getuid);
}

/* The child stops itself, as job control would; the parent sees it, and lets it go on. */
static void stop_and_go_on(void)
{
	pid_t child = fork();
	int status;

	if (!child) {
		raise(SIGSTOP);
		_exit(7);
	}
	waitpid(child, &status, WUNTRACED);
	if (!WIFSTOPPED(status) || WSTOPSIG(status) != SIGSTOP)
		_exit(1);
	kill(child, SIGCONT);
	waitpid(child, &status, 0);
	_exit(WIFEXITED(status) && WEXITSTATUS(status) == 7 ? 0 : 2);
}

static void receive_signals(int count)
{
	signal(SIGUSR1, note);
	while (count--)
		raise(SIGUSR1);
	printf("%d signals\n", (int)signals_seen);
}

static void trace_itself(void)
{
	pid_t child = fork();

	if (!child)
		_exit(ptrace(PTRACE_TRACEME, 0, 0, 0) ? 0 : 1);
	waitpid(child, NULL, 0);
}

/* Says that it is there, and makes calls until it is told to end. */
static void serve(void)
{
	signal(SIGUSR1, note);
	puts("ready");
	fflush(stdout);
	while (!signals_seen)
		calls(10);
	puts("done");
}

/* ---- sequences ---- */

static char buffer[4096];

static void read_file(void)
{
	long file = syscall(SYS_openat, AT_FDCWD, "/etc/passwd", O_RDONLY);
	char status[256];

	syscall(SYS_read, file, buffer, sizeof(buffer));
	syscall(SYS_newfstatat, file, "", status, AT_EMPTY_PATH);
	syscall(SYS_close, file);
}

#define FILES_AT_ONCE 2000

/* Whoever is at the other end of standard input says when to go on. */
static void read_files_in_parts(int files)
{
	int i;

	for (i = 0; i < files; i++) {
		if (i % FILES_AT_ONCE == 0 &&
		    (write(STDIN_FILENO, "", 1) != 1 || read(STDIN_FILENO, buffer, 1) != 1))
			abort();
		read_file();
	}
}

/* The name of the first entry lies in the buffer. */
static void look_at_entry(void)
{
	long directory = syscall(SYS_openat, AT_FDCWD, "/etc", O_RDONLY | O_DIRECTORY);
	char status[256];

	syscall(SYS_getdents64, directory, buffer, sizeof(buffer));
	syscall(SYS_newfstatat, directory, buffer + 19, status, AT_SYMLINK_NOFOLLOW);
	syscall(SYS_close, directory);
}

/* From a pipe, which may have to wait for its other end. */
static void pass_through_pipe(void)
{
	static int ends[2];

	if (!ends[1] && pipe(ends))
		abort();
	syscall(SYS_write, ends[1], "x", 1);
	syscall(SYS_getppid);
	syscall(SYS_read, ends[0], buffer, 1);
}

/* The program uses what is mapped before it unmaps it. */
static void map_file(void)
{
	long file = syscall(SYS_openat, AT_FDCWD, "/etc/passwd", O_RDONLY);
	long memory = syscall(SYS_mmap, 0, sizeof(buffer), PROT_READ, MAP_PRIVATE, file, 0);

	syscall(SYS_close, file);
	syscall(SYS_munmap, memory, sizeof(buffer));
}

/* Nothing in a turn depends on what the turn before read; no thread waits for any of the words. */
static void copy_and_wake(void)
{
	static uint32_t words[16];
	static long file, null;
	static int turns_done;

	if (!file) {
		file = syscall(SYS_openat, AT_FDCWD, "/etc/passwd", O_RDONLY);
		null = syscall(SYS_openat, AT_FDCWD, "/dev/null", O_WRONLY);
	}
	syscall(SYS_write, null, buffer, syscall(SYS_read, file, buffer, 1));
	syscall(SYS_futex, &words[turns_done++ % 16], FUTEX_WAKE_PRIVATE, 1, NULL);
}

static void fork_once(void)
{
	fork_many(1);
}

static int turns = 300;

static void turn(void (*once)(void))
{
	while (turns--)
		once();
}

static void write_little(const char *path)
{
	int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600), i;

	for (i = 0; i < 1000; i++)
		syscall(SYS_write, file, buffer, 16);
}

static void ask_for_time(void)
{
	struct timespec now;

	syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &now);
}

static void ask_for_own_time(void)
{
	struct timespec now;

	syscall(SYS_clock_gettime, CLOCK_THREAD_CPUTIME_ID, &now);
}

static void ask_about_descriptor(void)
{
	struct stat status;

	syscall(SYS_newfstatat, 0, "", &status, AT_EMPTY_PATH);
}

/* ---- what predictions.py compares ---- */

static void read_time(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
}

/* As many pages as turns. */
static void touch_pages(bool ahead)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE), size = (size_t)turns * page;
	char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	size_t i;

	if (memory == MAP_FAILED)
		abort();
	madvise(memory, size, MADV_NOHUGEPAGE);
	if (ahead && madvise(memory, size, MADV_POPULATE_WRITE))
		abort();
	for (i = 0; i < size; i += page)
		((volatile char *)memory)[i] = 1;
}

int main(int argc, char *argv[])
{
	const char *deed = argc > 1 ? argv[1] : "";

	if (argc > 2 && atoi(argv[2]))
		turns = atoi(argv[2]);

	if (!strcmp(deed, "calls"))
		calls(500);
	else if (!strcmp(deed, "crash"))
		crash();
	else if (!strcmp(deed, "fork"))
		fork_many(turns);
	else if (!strcmp(deed, "threads"))
		start_threads();
	else if (!strcmp(deed, "exec"))
		execute_in_thread(argv[0]);
	else if (!strcmp(deed, "filter"))
		filter();
	else if (!strcmp(deed, "stop"))
		stop_and_go_on();
	else if (!strcmp(deed, "signals"))
		receive_signals(20);
	else if (!strcmp(deed, "trace"))
		trace_itself();
	else if (!strcmp(deed, "serve"))
		serve();
	else if (!strcmp(deed, "read_file"))
		turn(read_file);
	else if (!strcmp(deed, "read_files_in_parts"))
		read_files_in_parts(turns);
	else if (!strcmp(deed, "look_at_entry"))
		turn(look_at_entry);
	else if (!strcmp(deed, "pipe"))
		turn(pass_through_pipe);
	else if (!strcmp(deed, "map_file"))
		turn(map_file);
	else if (!strcmp(deed, "copy_and_wake"))
		turn(copy_and_wake);
	else if (!strcmp(deed, "fork_once"))
		turn(fork_once);
	else if (!strcmp(deed, "time"))
		turn(ask_for_time);
	else if (!strcmp(deed, "own_time"))
		turn(ask_for_own_time);
	else if (!strcmp(deed, "about_descriptor"))
		turn(ask_about_descriptor);
	else if (!strcmp(deed, "time_by_vdso"))
		turn(read_time);
	else if (!strcmp(deed, "touch"))
		touch_pages(false);
	else if (!strcmp(deed, "touch_ahead"))
		touch_pages(true);
	else if (!strcmp(deed, "write_little") && argc > 2)
		write_little(argv[2]);
	else if (!strcmp(deed, "ignore"))
		signal(SIGINT, SIG_IGN), puts("ready"), fflush(stdout), pause();
	return 0;
}
