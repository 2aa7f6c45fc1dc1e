// SPDX-License-Identifier: MIT
/*
 * Calls that a carried thread makes at home: they wait in a way that the layer does not imitate,
 * or concern the kernel thread while they last, or start another program.  They cost what they
 * cost without the layer.
 */
#include <errno.h>
#include <fcntl.h>
#include <mqueue.h>
#include <netdb.h>
#include <pty.h>
#include <sys/prctl.h>

#include <grp.h>

#include "binds.h"
#include "export.h"
#include "home.h"
#include "real.h"

#define AT_HOME_CALLS(X)                                                                           \
	/* files */                                                                                \
	X(int, fsync, (int fd), (fd))                                                              \
	X(int, fdatasync, (int fd), (fd))                                                          \
	X(int, msync, (void *at, size_t size, int flags), (at, size, flags))                       \
	X(int, lockf64, (int fd, int operation, off64_t size), (fd, operation, size))              \
	X(int, flock, (int fd, int operation), (fd, operation))                                    \
	X(int, lockf, (int fd, int operation, off_t size), (fd, operation, size))                  \
	X(ssize_t, sendfile, (int to, int from, off_t *at, size_t size), (to, from, at, size))     \
	X(ssize_t, sendfile64, (int to, int from, off64_t *at, size_t size), (to, from, at, size)) \
	X(ssize_t, splice, (int from, off64_t *f, int to, off64_t *t, size_t n, unsigned int fl),  \
	  (from, f, to, t, n, fl))                                                                 \
	X(ssize_t, tee, (int from, int to, size_t n, unsigned int fl), (from, to, n, fl))          \
	/* sockets */                                                                              \
	X(int, connect, (int fd, const struct sockaddr *to, socklen_t n), (fd, to, n))             \
	X(int, sendmmsg, (int fd, struct mmsghdr *m, unsigned int n, int fl), (fd, m, n, fl))      \
	X(int, getaddrinfo,                                                                        \
	  (const char *node, const char *service, const struct addrinfo *hints,                    \
	   struct addrinfo **found),                                                               \
	  (node, service, hints, found))                                                           \
	X(struct hostent *, gethostbyname, (const char *name), (name))                             \
	/* messages and semaphores of System V */                                                  \
	X(int, msgsnd, (int id, const void *m, size_t n, int fl), (id, m, n, fl))                  \
	X(ssize_t, msgrcv, (int id, void *m, size_t n, long type, int fl), (id, m, n, type, fl))   \
	X(int, semop, (int id, struct sembuf *operations, size_t n), (id, operations, n))          \
	X(int, semtimedop, (int id, struct sembuf *o, size_t n, const struct timespec *t),         \
	  (id, o, n, t))                                                                           \
	X(ssize_t, mq_receive, (mqd_t q, char *m, size_t n, unsigned int *p), (q, m, n, p))        \
	X(ssize_t, mq_timedreceive,                                                                \
	  (mqd_t q, char *m, size_t n, unsigned int *p, const struct timespec *t),                 \
	  (q, m, n, p, t))                                                                         \
	X(int, mq_send, (mqd_t q, const char *m, size_t n, unsigned int p), (q, m, n, p))          \
	X(int, mq_timedsend,                                                                       \
	  (mqd_t q, const char *m, size_t n, unsigned int p, const struct timespec *t),            \
	  (q, m, n, p, t))                                                                         \
	X(int, pselect,                                                                            \
	  (int n, fd_set *in, fd_set *out, fd_set *except, const struct timespec *t,               \
	   const sigset_t *mask),                                                                  \
	  (n, in, out, except, t, mask))                                                           \
	/* signals; one to the process may be due here before the call returns */                  \
	X(int, sigwait, (const sigset_t *set, int *signal), (set, signal))                         \
	X(int, sigwaitinfo, (const sigset_t *set, siginfo_t *info), (set, info))                   \
	X(int, sigtimedwait, (const sigset_t *set, siginfo_t *info, const struct timespec *limit), \
	  (set, info, limit))                                                                      \
	X(int, sigsuspend, (const sigset_t *set), (set))                                           \
	X(int, sigpending, (sigset_t * set), (set))                                                \
	X(int, pause, (void), ())                                                                  \
	X(int, raise, (int signal), (signal))                                                      \
	X(int, kill, (pid_t pid, int signal), (pid, signal))                                       \
	X(int, killpg, (pid_t group, int signal), (group, signal))                                 \
	X(int, sigqueue, (pid_t pid, int signal, const union sigval value), (pid, signal, value))  \
	/* processes */                                                                            \
	X(pid_t, wait, (int *status), (status))                                                    \
	X(pid_t, wait3, (int *status, int fl, struct rusage *usage), (status, fl, usage))          \
	X(pid_t, wait4, (pid_t pid, int *status, int fl, struct rusage *usage),                    \
	  (pid, status, fl, usage))                                                                \
	X(pid_t, waitpid, (pid_t pid, int *status, int fl), (pid, status, fl))                     \
	X(int, waitid, (idtype_t type, id_t id, siginfo_t * info, int fl), (type, id, info, fl))   \
	X(pid_t, fork, (void), ())                                                                 \
	X(int, daemon, (int stay, int keep), (stay, keep))                                         \
	X(int, system, (const char *command), (command))                                           \
	X(FILE *, popen, (const char *command, const char *mode), (command, mode))                 \
	X(int, pclose, (FILE * stream), (stream))                                                  \
	X(int, posix_spawn,                                                                        \
	  (pid_t * pid, const char *file, const posix_spawn_file_actions_t *actions,               \
	   const posix_spawnattr_t *attributes, char *const argv[], char *const envp[]),           \
	  (pid, file, actions, attributes, argv, envp))                                            \
	X(int, posix_spawnp,                                                                       \
	  (pid_t * pid, const char *file, const posix_spawn_file_actions_t *actions,               \
	   const posix_spawnattr_t *attributes, char *const argv[], char *const envp[]),           \
	  (pid, file, actions, attributes, argv, envp))                                            \
	X(pid_t, forkpty,                                                                          \
	  (int *fd, char *name, const struct termios *termios, const struct winsize *size),        \
	  (fd, name, termios, size))                                                               \
	X(int, execve, (const char *file, char *const argv[], char *const envp[]),                 \
	  (file, argv, envp))                                                                      \
	X(int, execv, (const char *file, char *const argv[]), (file, argv))                        \
	X(int, execvp, (const char *file, char *const argv[]), (file, argv))                       \
	X(int, execvpe, (const char *file, char *const argv[], char *const envp[]),                \
	  (file, argv, envp))                                                                      \
	X(int, fexecve, (int fd, char *const argv[], char *const envp[]), (fd, argv, envp))        \
	/* set*id(): libc changes every kernel thread, also the carriers */                        \
	X(int, setuid, (uid_t id), (id))                                                           \
	X(int, setgid, (gid_t id), (id))                                                           \
	X(int, seteuid, (uid_t id), (id))                                                          \
	X(int, setegid, (gid_t id), (id))                                                          \
	X(int, setreuid, (uid_t real_id, uid_t effective), (real_id, effective))                   \
	X(int, setregid, (gid_t real_id, gid_t effective), (real_id, effective))                   \
	X(int, setresuid, (uid_t a, uid_t b, uid_t c), (a, b, c))                                  \
	X(int, setresgid, (gid_t a, gid_t b, gid_t c), (a, b, c))                                  \
	X(int, setgroups, (size_t n, const gid_t *groups), (n, groups))                            \
	X(int, initgroups, (const char *user, gid_t group), (user, group))                         \
	/* the thread itself */                                                                    \
	X(int, sched_getaffinity, (pid_t tid, size_t size, cpu_set_t * set), (tid, size, set))     \
	X(int, sched_getscheduler, (pid_t tid), (tid))                                             \
	X(int, sched_getparam, (pid_t tid, struct sched_param * param), (tid, param))              \
	X(int, getpriority, (__priority_which_t which, id_t who), (which, who))                    \
	X(int, pthread_setname_np, (pthread_t thread, const char *name), (thread, name))           \
	X(int, pthread_getname_np, (pthread_t thread, char *name, size_t size),                    \
	  (thread, name, size))                                                                    \
	X(int, pthread_barrier_wait, (pthread_barrier_t * barrier), (barrier))                     \
	X(int, pthread_join, (pthread_t thread, void **result), (thread, result))                  \
	X(int, pthread_timedjoin_np,                                                               \
	  (pthread_t thread, void **result, const struct timespec *limit),                         \
	  (thread, result, limit))                                                                 \
	X(int, pthread_clockjoin_np,                                                               \
	  (pthread_t thread, void **result, clockid_t clock, const struct timespec *limit),        \
	  (thread, result, clock, limit))                                                          \
	X(int, thrd_join, (thrd_t thread, int *result), (thread, result))

/* NOLINTBEGIN(bugprone-macro-parentheses): types and declarations */
#define X(type, name, parameters, arguments) \
	EXPORT type name parameters          \
	{                                    \
		type made;                   \
                                             \
		home_check_signals();        \
		home_enter(#name);           \
		made = LIBC(name) arguments; \
		home_leave();                \
		return made;                 \
	}
AT_HOME_CALLS(X)
#undef X
/* NOLINTEND(bugprone-macro-parentheses) */

/* ---- calls with a list of arguments ---- */

#define MOST_ARGUMENTS 1024

static int collect(const char *first, va_list list, char *argv[])
{
	int count = 0;

	for (argv[count++] = (char *)first; argv[count - 1]; count++) {
		if (count == MOST_ARGUMENTS) {
			errno = E2BIG;
			return -1;
		}
		argv[count] = va_arg(list, char *);
	}
	return 0;
}

/* NOLINTBEGIN(bugprone-macro-parentheses): names */
#define EXEC_LIST(name, vector)                                   \
	EXPORT int name(const char *file, const char *first, ...) \
	{                                                         \
		char *argv[MOST_ARGUMENTS];                       \
		va_list list;                                     \
		int error;                                        \
                                                                  \
		va_start(list, first);                            \
		error = collect(first, list, argv);               \
		va_end(list);                                     \
		return error ? error : vector(file, argv);        \
	}
EXEC_LIST(execl, execv)
EXEC_LIST(execlp, execvp)
/* NOLINTEND(bugprone-macro-parentheses) */

EXPORT int execle(const char *file, const char *first, ...)
{
	char *argv[MOST_ARGUMENTS], *const *envp;
	va_list list;
	int error;

	va_start(list, first);
	error = collect(first, list, argv);
	envp = va_arg(list, char *const *);
	va_end(list);
	return error ? error : execve(file, argv, envp);
}

/* ---- ends of the process ---- */

/* libc signals its own thread, and then goes on: it has to be the one that runs. */
EXPORT void abort(void)
{
	void (*function)(void);

	home_bind("abort");
	function = (void (*)(void))real_function("abort");
	function();
	__builtin_unreachable();
}

EXPORT void __assert_fail(const char *assertion, const char *file, unsigned int line,
			  const char *function)
{
	void (*fail)(const char *, const char *, unsigned int, const char *);

	home_bind("abort");
	fail = (void (*)(const char *, const char *, unsigned int, const char *))real_function(
		"__assert_fail");
	fail(assertion, file, line, function);
	__builtin_unreachable();
}

EXPORT void exit(int status)
{
	void (*function)(int);

	home_bind("exit");
	function = (void (*)(int))real_function("exit");
	function(status);
	__builtin_unreachable();
}
