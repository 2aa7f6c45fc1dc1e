/* SPDX-License-Identifier: MIT */
/* What the applications of `ferry bench apps` work on. */
#ifndef MATERIAL_H
#define MATERIAL_H

#include <stddef.h>

/* Of one tree, in the order of a walk. */
struct material {
	char **files; /* small regular files that can be read, ended by NULL */
	size_t file_count;
	char *path_list; /* directories with colons between them, the last one having NAME */
	int large_file;	 /* a file without a name, cached, to be read */
	int empty_file;	 /* that gives nothing to read */
};

#define SOUGHT "sh"

/** Collects it from DIRECTORY, for as long as the process lives: 0, or an exit status. */
int material_collect(struct material *material, const char *directory);

#endif /* MATERIAL_H */
