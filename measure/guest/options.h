/* SPDX-License-Identifier: MIT */
/* What the programs' command lines have in common. */
#ifndef OPTIONS_H
#define OPTIONS_H

struct options {
	int passes;
	const char *directory; /* on a tmpfs; NULL when not given */
};

/** Reads "[--passes N] [DIRECTORY]"; a mistake, or --help, prints USAGE and exits. */
struct options read_options(int argc, char *argv[], const char *usage);

/** Makes DIRECTORY, or /tmp, the current one; exits with a message unless it is on a tmpfs. */
void enter_tmpfs(const char *directory);

#endif /* OPTIONS_H */
