// SPDX-License-Identifier: MIT
#include "tree.h"

#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char root[256];

int tree_begin(void **state)
{
	const char *place = getenv("TMPDIR");

	(void)state;
	snprintf(root, sizeof(root), "%s/ferry-files.XXXXXX", place ? place : "/tmp");
	REQUIRE(mkdtemp(root));
	REQUIRE(!chmod(root, 0755));
	REQUIRE(!chdir(root));
	return 0;
}

/* rm, because paths may be longer than PATH_MAX. */
int tree_end(void **state)
{
	char command[2 * sizeof(root) + 64];

	(void)state;
	REQUIRE(!chdir("/"));
	snprintf(command, sizeof(command), "chmod -R u+rwx '%s'; rm -rf '%s'", root, root);
	REQUIRE(!system(command));
	return 0;
}

static char pattern(const char *name, size_t at)
{
	return (char)(at * 31 + at / 251 + strlen(name));
}

void make_file(const char *name, size_t size)
{
	int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0644);
	char *data = malloc(size + 1);
	size_t i;

	REQUIRE(fd >= 0 && data);
	for (i = 0; i < size; i++)
		data[i] = pattern(name, i);
	REQUIRE(write(fd, data, size) == (ssize_t)size);
	free(data);
	close(fd);
}

bool is_content(const char *name, const char *data, size_t size)
{
	size_t i;

	for (i = 0; i < size; i++)
		if (data[i] != pattern(name, i))
			return false;
	return true;
}

void make_directory(const char *name)
{
	REQUIRE(!mkdir(name, 0755));
}

void make_link(const char *target, const char *name)
{
	REQUIRE(!symlink(target, name));
}

static void make_entry(const char *path, unsigned int kind)
{
	switch (kind) {
	case 0:
		make_link("..", path);
		break;
	case 1:
		make_link("nowhere", path);
		break;
	case 2:
		REQUIRE(!mkfifo(path, 0644));
		break;
	case 3:
		make_link("f0", path);
		break;
	default:
		make_file(path, kind * 700);
	}
}

void make_random_tree(const char *name, unsigned int count, unsigned int seed)
{
	char path[1024];
	unsigned int i;

	make_directory(name);
	for (i = 0; i < count; i++) {
		unsigned int kind = (unsigned int)rand_r(&seed) % 16;
		bool deep = strlen(name) > 200;

		if (kind > 13 && !deep && i + 1 < count) {
			unsigned int below = (unsigned int)rand_r(&seed) % (count - i);

			snprintf(path, sizeof(path), "%s/d%u\n", name, i);
			make_random_tree(path, below, seed);
			i += below;
			continue;
		}
		snprintf(path, sizeof(path), "%s/f%u", name, i);
		make_entry(path, kind);
	}
}

void make_chain(const char *name, unsigned int levels)
{
	int here = open(".", O_RDONLY | O_DIRECTORY);

	make_directory(name);
	REQUIRE(!chdir(name));
	while (--levels) {
		make_directory("directory");
		REQUIRE(!chdir("directory"));
	}
	make_file("last", 1);
	REQUIRE(!fchdir(here));
	close(here);
}

char **make_names(const char *prefix, size_t count)
{
	char **names = malloc(count * sizeof(*names));
	size_t i;

	REQUIRE(names);
	for (i = 0; i < count; i++)
		REQUIRE(asprintf(&names[i], "%s%zu", prefix, i) > 0);
	return names;
}

char **make_files(size_t count, size_t (*size_of)(size_t i))
{
	char **names = make_names("name", count);
	size_t i;

	for (i = 0; i < count; i++)
		if (i % 10)
			make_file(names[i], size_of(i));
	return names;
}

void free_names(char **names, size_t count)
{
	while (count)
		free(names[--count]);
	free(names);
}
