// SPDX-License-Identifier: MIT
/* Credentials: a change by one slot applies to the next ones. */
#include <sys/socket.h>

#include "contract/suite.h"
#include "contract/workload.h"

#define NOBODY 65534

static char secret[] = "/tmp/conformance.XXXXXX";

static void drop_rights(void *arg)
{
	int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
	struct batch_slot calls[103];
	long results[103];
	int i;

	(void)arg;
	for (i = 0; i < 103; i++) {
		calls[i] = SLOT(SYS_write, null, "x", 1);
		results[i] = 1;
	}
	calls[0] = SLOT(SYS_faccessat, AT_FDCWD, secret, R_OK);
	results[0] = 0;
	calls[50] = SLOT(SYS_setresuid, NOBODY, NOBODY, NOBODY);
	results[50] = 0;
	calls[51] = SLOT(SYS_openat, AT_FDCWD, secret, O_RDONLY);
	results[51] = -EACCES;
	calls[101] = SLOT(SYS_setresuid, 0, 0, 0);
	results[101] = -EPERM;
	calls[102] = SLOT(SYS_geteuid);
	results[102] = NOBODY;
	expect_run(calls, 103, results);
	run_writes();
}

static void skip_unless_root(void)
{
	if (geteuid() != 0)
		suite_skip("only root can give rights away");
}

TEST(a_slot_that_drops_rights_binds_the_next)
{
	int file;

	skip_unless_root();
	/* NOLINTNEXTLINE(bugprone-not-null-terminated-result): the terminator is there already */
	memcpy(secret + sizeof(secret) - 7, "XXXXXX", 6);
	file = mkstemp(secret);
	expect(file >= 0);
	expect_child(drop_rights, NULL);
	expect_child(in_new_thread, drop_rights);
	close(file);
	unlink(secret);
}

/* Each datagram carries the credentials of its sender. */
static void send_as_two(void *arg)
{
	const int *fds = arg;
	struct batch_slot calls[41];
	long results[41];
	char text[CMSG_SPACE(sizeof(struct ucred))];
	char byte;
	int i;

	run_writes();
	for (i = 0; i < 41; i++) {
		calls[i] = SLOT(SYS_sendto, fds[0], "x", 1, 0, 0, 0);
		results[i] = 1;
	}
	calls[20] = SLOT(SYS_setresuid, NOBODY, NOBODY, NOBODY);
	results[20] = 0;
	expect_run(calls, 41, results);
	for (i = 0; i < 40; i++) {
		struct iovec vector = { &byte, 1 };
		struct msghdr message = { .msg_iov = &vector,
					  .msg_iovlen = 1,
					  .msg_control = text,
					  .msg_controllen = sizeof(text) };
		struct ucred sender;

		expect_equal(recvmsg(fds[1], &message, MSG_DONTWAIT), 1);
		expect(CMSG_FIRSTHDR(&message));
		memcpy(&sender, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof(sender));
		expect_equal(sender.uid, i < 20 ? 0 : NOBODY);
		expect_equal(sender.pid, getpid());
	}
}

TEST(messages_carry_the_credentials_at_the_time_of_their_slot)
{
	const int on = 1;
	int fds[2];

	skip_unless_root();
	expect(!socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, fds));
	expect(!setsockopt(fds[1], SOL_SOCKET, SO_PASSCRED, &on, sizeof(on)));
	expect(fcntl(fds[1], F_GETFD) >= 0);
	expect_child(send_as_two, fds);
	close(fds[0]);
	close(fds[1]);
}
