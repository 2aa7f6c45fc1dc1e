/* SPDX-License-Identifier: MIT */
/*
 * Runs of calls as programs have them, for cases.c: included with RUN(name), the function's name,
 * and MARK, its attributes.
 */

MARK static void RUN(map_file)(void)
{
	struct stat st;
	void *map = MAP_FAILED;
	int fd = open(FILE_NAME, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return;
	if (!fstat(fd, &st))
		map = mmap(NULL, st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	if (map != MAP_FAILED)
		munmap(map, st.st_size);
}

MARK static void RUN(read_file)(void)
{
	int fd = open(FILE_NAME, O_RDONLY);

	if (fd < 0)
		return;
	(void)!read(fd, text, sizeof(text));
	close(fd);
}

MARK static void RUN(listen_somewhere)(void)
{
	struct sockaddr_in address = { .sin_family = AF_INET };
	int one = 1, fd = socket(AF_INET, SOCK_STREAM, 0);

	if (fd < 0)
		return;
	if (!setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)) &&
	    !setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &one, sizeof(one)) &&
	    !bind(fd, (struct sockaddr *)&address, sizeof(address)))
		listen(fd, 16);
	close(fd);
}

MARK static void RUN(reset_signals)(void)
{
	struct sigaction action = { .sa_handler = SIG_DFL };
	size_t i;

	sigemptyset(&action.sa_mask);
	for (i = 0; i < COUNT(signals); i++)
		sigaction(signals[i], &action, NULL);
}

MARK static void RUN(search)(void)
{
	int fd = open("none1", O_RDONLY);

	if (fd < 0)
		fd = open("none2", O_RDONLY);
	if (fd < 0)
		fd = open("none3", O_RDONLY);
	if (fd < 0)
		fd = open(FILE_NAME, O_RDONLY);
	if (fd >= 0)
		close(fd);
}

MARK static void RUN(sum_sizes)(void)
{
	size_t i;

	for (i = 0; i < COUNT(entries); i++) {
		struct stat st;

		if (!lstat(entries[i].name, &st))
			sum += st.st_size;
	}
}

/* As git looks whether files have changed since. */
MARK static void RUN(refresh)(void)
{
	size_t i;

	for (i = 0; i < COUNT(entries); i++) {
		struct stat st;

		if (lstat(entries[i].name, &st) < 0) {
			changed += errno == ENOENT;
			continue;
		}
		if (st.st_size != entries[i].size || st.st_mtime != entries[i].mtime ||
		    st.st_mode != entries[i].mode)
			changed++;
	}
}
