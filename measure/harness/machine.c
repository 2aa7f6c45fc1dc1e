// SPDX-License-Identifier: MIT
/* Reads /proc and /sys; anything missing there stays unknown. */
#include "machine.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define VULNERABILITIES "/sys/devices/system/cpu/vulnerabilities"

static void copy_string(char *to, size_t size, const char *from)
{
	snprintf(to, size, "%s", from);
}

/* The value of the first line "KEY<blanks>: VALUE" of /proc/cpuinfo, "" if there is none. */
static void cpuinfo(const char *key, char *value, size_t size)
{
	FILE *file = fopen("/proc/cpuinfo", "re");
	char *line = NULL;
	size_t room = 0;

	copy_string(value, size, "");
	while (file && getline(&line, &room, file) > 0) {
		char *colon = strchr(line, ':');

		if (!colon || strncmp(line, key, strlen(key)) != 0)
			continue;
		colon[strcspn(colon, "\n")] = '\0';
		copy_string(value, size, colon + 1 + strspn(colon + 1, " "));
		break;
	}
	free(line);
	if (file)
		fclose(file);
}

void read_first_line(const char *path, char *line, size_t size)
{
	FILE *file = fopen(path, "re");

	copy_string(line, size, "");
	if (!file)
		return;
	if (fgets(line, (int)size, file))
		line[strcspn(line, "\n")] = '\0';
	fclose(file);
}

static int read_io_uring_disabled(void)
{
	char line[16];

	read_first_line("/proc/sys/kernel/io_uring_disabled", line, sizeof(line));
	return line[0] ? (int)strtol(line, NULL, 10) : -1;
}

void machine_read(struct machine *machine)
{
	char flags[8192];

	uname(&machine->kernel);
	cpuinfo("model name", machine->cpu, sizeof(machine->cpu));
	if (!machine->cpu[0])
		copy_string(machine->cpu, sizeof(machine->cpu), "unknown");
	cpuinfo("flags", flags, sizeof(flags));
	machine->hypervisor = strstr(flags, " hypervisor") != NULL;
	machine->cpus = sysconf(_SC_NPROCESSORS_ONLN);
	machine->io_uring_disabled = read_io_uring_disabled();
}

static const char *without_prefix(const char *text, const char *prefix)
{
	size_t length = strlen(prefix);

	return strncmp(text, prefix, length) ? text : text + length;
}

static int is_entry(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

json_t *machine_mitigations(void)
{
	json_t *mitigations = json_object();
	struct dirent **entries = NULL;
	int count = scandir(VULNERABILITIES, &entries, is_entry, alphasort);
	int i;

	for (i = 0; i < count; i++) {
		char path[sizeof(VULNERABILITIES) + 1 + sizeof(entries[i]->d_name)];
		char state[256];

		snprintf(path, sizeof(path), "%s/%s", VULNERABILITIES, entries[i]->d_name);
		read_first_line(path, state, sizeof(state));
		if (state[0] && strcmp(state, "Not affected") != 0)
			json_object_set_new(mitigations, entries[i]->d_name,
					    json_string(without_prefix(state, "Mitigation: ")));
		free(entries[i]);
	}
	free(entries);
	return mitigations;
}
