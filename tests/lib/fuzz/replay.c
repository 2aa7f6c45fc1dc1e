// SPDX-License-Identifier: MIT
/* Feeds the files of a corpus directory to a fuzz target, without libFuzzer. */
#include <dirent.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

#define LENGTH_MAX (1 << 20)

static int replay_file(const char *directory, const char *name)
{
	static uint8_t buffer[LENGTH_MAX];
	char path[4096];
	uint8_t *exact;
	size_t length;
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	file = fopen(path, "rb");
	if (!file) {
		fprintf(stderr, "replay: %s: %s\n", path, strerror(errno));
		return -1;
	}
	length = fread(buffer, 1, sizeof(buffer), file);
	fclose(file);
	exact = malloc(length ? length : 1);
	if (!exact)
		return -1;
	memcpy(exact, buffer, length);
	fprintf(stderr, "replay: %s\n", path); /* after a crash, this names the file */
	LLVMFuzzerTestOneInput(exact, length);
	free(exact);
	return 0;
}

int main(int argc, char **argv)
{
	const struct dirent *entry;
	int replayed = 0;
	DIR *directory;

	if (argc != 2) {
		fprintf(stderr, "usage: replay DIRECTORY\n");
		return 2;
	}
	directory = opendir(argv[1]);
	if (!directory) {
		fprintf(stderr, "replay: %s: %s\n", argv[1], strerror(errno));
		return 2;
	}
	while ((entry = readdir(directory))) {
		if (entry->d_name[0] == '.')
			continue;
		if (replay_file(argv[1], entry->d_name))
			return 1;
		replayed++;
	}
	closedir(directory);
	if (!replayed)
		fprintf(stderr, "replay: %s: there is no file in it\n", argv[1]);
	return replayed ? 0 : 1;
}
