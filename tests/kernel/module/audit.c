// SPDX-License-Identifier: MIT
/*
 * The module refuses audited tasks.  Once enabled, audit watches every new task until the
 * machine goes down, so this is a separate program for a separate guest.
 */
#include <linux/audit.h>
#include <linux/netlink.h>
#include <sys/socket.h>

#include "device.h"
#include "tests/lib/conformance/run.h"

#define EXIT_SKIPPED 77

static int enable_audit(void)
{
	struct {
		struct nlmsghdr header;
		struct audit_status status;
	} message = {
		.header = { .nlmsg_len = sizeof(message),
			    .nlmsg_type = AUDIT_SET,
			    .nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK },
		.status = { .mask = AUDIT_STATUS_ENABLED, .enabled = 1 },
	};
	struct {
		struct nlmsghdr header;
		struct nlmsgerr error;
	} answer;
	int link = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_AUDIT);

	if (link < 0)
		return -errno;
	if (send(link, &message, sizeof(message), 0) < 0)
		return -errno;
	if (recv(link, &answer, sizeof(answer), 0) < (ssize_t)sizeof(answer.header) + 4)
		return -EIO;
	close(link);
	return answer.error.error;
}

static void run_audited(void *fd)
{
	const struct batch_slot slot = SLOT(SYS_getpid);
	long ret = UNTOUCHED;
	struct batch_args args = device_args(&ret, &slot, 1);

	expect_device_refuses(*(int *)fd, &args, 0, BATCH_BEGIN);
	expect_equal(ferry_batch_on(FERRY_DEVICE, &ret, &slot, 1, 0, 0), 0);
	expect_equal(ret, getpid());
}

TEST(an_audited_task_is_refused)
{
	int fd = device_open();

	expect_device_runs(fd);
	if (enable_audit())
		suite_skip("audit cannot be enabled here");
	expect_child(run_audited, &fd);
}

int main(void)
{
	const char *why;

	if (ferry_engine_probe(FERRY_DEVICE, &why)) {
		printf("skipped: %s\n", why);
		return EXIT_SKIPPED;
	}
	return tests_run("audit", NULL) ? 1 : 0;
}
