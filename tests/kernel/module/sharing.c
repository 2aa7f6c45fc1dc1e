// SPDX-License-Identifier: MIT
/* A descriptor of the device serves any process that has it, and runs batches for the caller. */
#include <pthread.h>
#include <sys/socket.h>

#include "device.h"

static void run_on(void *arg)
{
	expect_device_runs(*(int *)arg);
}

TEST(a_child_can_use_its_parents_descriptor)
{
	int fd = device_open();
	int copy = dup(fd);

	expect_child(run_on, &fd);
	expect_child(run_on, &copy);
	close(fd);
	expect_device_runs(copy);
}

static void run_after_exec(void *arg)
{
	char text[16];

	expect(!fcntl(*(int *)arg, F_SETFD, 0));
	snprintf(text, sizeof(text), "%d", *(int *)arg);
	execl("/proc/self/exe", "module_tests", "--use", text, NULL);
}

TEST(a_descriptor_of_the_device_lives_through_exec)
{
	int fd = device_open();

	expect_child(run_after_exec, &fd);
}

/* ---- passed through a socket ---- */

union control {
	struct cmsghdr header;
	char space[CMSG_SPACE(sizeof(int))];
};

static void pass(int socket, int fd)
{
	char byte = 0;
	struct iovec data = { &byte, 1 };
	union control control = { .header = { .cmsg_len = CMSG_LEN(sizeof(int)),
					      .cmsg_level = SOL_SOCKET,
					      .cmsg_type = SCM_RIGHTS } };
	const struct msghdr message = { .msg_iov = &data,
					.msg_iovlen = 1,
					.msg_control = &control,
					.msg_controllen = sizeof(control) };

	memcpy(CMSG_DATA(&control.header), &fd, sizeof(fd));
	expect_equal(sendmsg(socket, &message, 0), 1);
}

static int receive(int socket)
{
	char byte;
	struct iovec data = { &byte, 1 };
	union control control;
	struct msghdr message = { .msg_iov = &data,
				  .msg_iovlen = 1,
				  .msg_control = &control,
				  .msg_controllen = sizeof(control) };
	int fd;

	expect_equal(recvmsg(socket, &message, 0), 1);
	memcpy(&fd, CMSG_DATA(&control.header), sizeof(fd));
	return fd;
}

static void use_what_comes(void *arg)
{
	expect_device_runs(receive(*(int *)arg));
}

TEST(a_descriptor_of_the_device_can_be_sent_through_a_socket)
{
	int ends[2];
	pid_t child;
	int status;
	int fd;

	expect(!socketpair(AF_UNIX, SOCK_STREAM, 0, ends));
	child = child_start(use_what_comes, &ends[1]);
	fd = device_open();
	pass(ends[0], fd);
	close(fd);
	expect_equal(waitpid(child, &status, 0), child);
	expect_equal(status, 0);
}

/* ---- the library's descriptor ---- */

/* The number of descriptors of the device that this process has. */
static int count_devices(void)
{
	char path[64];
	char target[64];
	int count = 0;
	int fd;

	for (fd = 0; fd < 1100; fd++) {
		ssize_t length;

		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		length = readlink(path, target, sizeof(target) - 1);
		if (length < 0)
			continue;
		target[length] = '\0';
		count += !strcmp(target, FERRY_DEVICE_PATH);
	}
	return count;
}

static void *run_often(void *arg)
{
	int i;

	for (i = 0; i < 200; i++)
		expect_library_runs();
	return arg;
}

TEST(threads_share_one_descriptor_out_of_the_way)
{
	pthread_t threads[4];
	int before = open("/dev/null", O_RDONLY | O_CLOEXEC);
	int after;
	size_t i;

	close(before);
	for (i = 0; i < ARRAY_SIZE(threads); i++)
		expect(!pthread_create(&threads[i], NULL, run_often, NULL));
	for (i = 0; i < ARRAY_SIZE(threads); i++)
		expect(!pthread_join(threads[i], NULL));
	expect_equal(count_devices(), 1);
	after = open("/dev/null", O_RDONLY | O_CLOEXEC);
	expect_equal(after, before);
	close(after);
}
