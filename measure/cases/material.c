// SPDX-License-Identifier: MIT
#include "material.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/memory.h"
#include "common/messages.h"
#include "measure/harness/interrupt.h"

#define FILES 2000
#define LARGEST (256L << 10) /* of them, bytes: summing must not take most of the time */
#define DIRECTORIES 500
#define PATHS_SIZE (100L << 10) /* of all names together, bytes: well below what exec() takes */
#define LARGE_FILE (64L << 20)	/* bytes */

/* nftw() gives its visitor no context. */
static struct material *collected;
static size_t directories, list_length, names_length;

static bool wants_file(const char *path, const struct stat *status)
{
	return collected->file_count < FILES && status->st_size <= LARGEST &&
	       names_length + strlen(path) < PATHS_SIZE && !access(path, R_OK);
}

static bool wants_directory(const char *path)
{
	char sought[4096];

	snprintf(sought, sizeof(sought), "%s/" SOUGHT, path);
	return directories < DIRECTORIES && list_length + strlen(path) + 8 < PATHS_SIZE &&
	       !strchr(path, ':') && access(sought, F_OK);
}

static void add_directory(const char *path)
{
	list_length += (size_t)sprintf(collected->path_list + list_length, "%s:", path);
	directories++;
}

static int visit(const char *path, const struct stat *status, int type, struct FTW *position)
{
	(void)position;
	if (type == FTW_D && wants_directory(path))
		add_directory(path);
	if (type == FTW_F && S_ISREG(status->st_mode) && wants_file(path, status)) {
		collected->files[collected->file_count++] = keep_text("%s", path);
		names_length += strlen(path) + 1;
	}
	return interrupted() || (collected->file_count == FILES && directories == DIRECTORIES);
}

static int make_large_file(void)
{
	int fd = memfd_create("ferry-bench", MFD_CLOEXEC);
	static char page[1 << 16];
	long written;

	if (fd < 0)
		return -1;
	memset(page, 'f', sizeof(page));
	for (written = 0; written < LARGE_FILE; written += (long)sizeof(page)) {
		if (write(fd, page, sizeof(page)) == (ssize_t)sizeof(page))
			continue;
		close(fd);
		return -1;
	}
	return fd;
}

int material_collect(struct material *material, const char *directory)
{
	*material = (struct material){
		.files = keep(FILES + 1, sizeof(char *)),
		.path_list = keep(PATHS_SIZE, 1),
		.empty_file = open("/dev/null", O_RDONLY | O_CLOEXEC),
		.large_file = make_large_file(),
	};
	collected = material;
	directories = list_length = names_length = 0;
	errno = 0;
	if (nftw(directory, visit, 16, FTW_PHYS | FTW_MOUNT) < 0 || !directories) {
		complain("bench: %s: not a tree of files to walk: %s", directory,
			 errno ? strerror(errno) : "it has no directory");
		return EXIT_USAGE;
	}
	memcpy(material->path_list + list_length, "/bin", sizeof("/bin"));
	if (material->file_count && material->large_file >= 0)
		return 0;
	complain(material->file_count ? "bench: no memory for a file of 64 MiB" :
					"bench: %s: it has no file to sum",
		 directory);
	return EXIT_USAGE;
}
