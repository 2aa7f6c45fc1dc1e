// SPDX-License-Identifier: MIT
#include "unfit.h"

#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "common/file.h"
#include "common/memory.h"
#include "common/record.h"

#if defined(__x86_64__)
#define OWN_MACHINE EM_X86_64
#define OWN_NAME "x86-64"
#elif defined(__aarch64__)
#define OWN_MACHINE EM_AARCH64
#define OWN_NAME "arm64"
#else
#define OWN_MACHINE EM_NONE
#define OWN_NAME "x86-64 and arm64"
#endif
#define HWCAP2_FSGSBASE (1UL << 1) /* of x86-64 */
#define MOST_INTERPRETERS 4 /* of a script whose interpreter is a script: as the kernel has it */

/* ---- finding ---- */

static bool is_executable(const char *file)
{
	struct stat status;

	return !stat(file, &status) && S_ISREG(status.st_mode) && !access(file, X_OK);
}

char *find_executable(const char *name)
{
	const char *path = getenv("PATH"), *next;
	char *file;

	if (strchr(name, '/'))
		return is_executable(name) ? keep_text("%s", name) : NULL;
	for (path = path ? path : "/usr/bin:/bin"; path; path = next) {
		const size_t length = strcspn(path, ":");

		next = path[length] ? path + length + 1 : NULL;
		file = length ? keep_text("%.*s/%s", (int)length, path, name) :
				keep_text("./%s", name);
		if (is_executable(file))
			return file;
	}
	return NULL;
}

/* The interpreter that the first line of a script names, kept; NULL for other files. */
static char *interpreter_of(const char *file)
{
	char *line = first_line(file), *name, *next;

	if (!line || strncmp(line, "#!", 2) != 0)
		return NULL;
	name = line + 2 + strspn(line + 2, " \t");
	next = name + strcspn(name, " \t");
	if (!*next || strcmp(strndupa(name, (size_t)(next - name)), "/usr/bin/env") != 0)
		return keep_text("%.*s", (int)(next - name), name);
	next += strspn(next, " \t");
	if (*next == '-')
		return NULL; /* options of env */
	return find_executable(keep_text("%.*s", (int)strcspn(next, " \t"), next));
}

/* ---- ELF: every offset is checked, as the file may be anything ---- */

struct image {
	const unsigned char *bytes;
	size_t size;
};

static const void *part(const struct image *image, size_t offset, size_t size)
{
	if (offset > image->size || size > image->size - offset)
		return NULL;
	return image->bytes + offset;
}

static bool is_dynamic(const struct image *image, const Elf64_Ehdr *header)
{
	size_t i;

	for (i = 0; i < header->e_phnum; i++) {
		const Elf64_Phdr *segment =
			part(image, header->e_phoff + i * sizeof(*segment), sizeof(*segment));

		if (segment && segment->p_type == PT_INTERP)
			return true;
	}
	return false;
}

static const Elf64_Shdr *section(const struct image *image, const Elf64_Ehdr *header, size_t index)
{
	return part(image, header->e_shoff + index * sizeof(Elf64_Shdr), sizeof(Elf64_Shdr));
}

static bool has_section(const struct image *image, const Elf64_Ehdr *header, const char *name)
{
	const Elf64_Shdr *names = section(image, header, header->e_shstrndx), *one;
	const size_t length = strlen(name) + 1;
	const char *found;
	size_t i;

	for (i = 0; names && i < header->e_shnum; i++) {
		one = section(image, header, i);
		found = one ? part(image, names->sh_offset + one->sh_name, length) : NULL;
		if (found && !memcmp(found, name, length))
			return true;
	}
	return false;
}

/* Whether the dynamic linker resolves a name. */
static bool has_name(const struct image *image, const Elf64_Ehdr *header, const char *name)
{
	const Elf64_Shdr *one;
	const char *names;
	size_t i;

	for (i = 0; i < header->e_shnum; i++) {
		one = section(image, header, i);
		if (!one || one->sh_type != SHT_STRTAB || !(one->sh_flags & SHF_ALLOC))
			continue;
		names = part(image, one->sh_offset, one->sh_size);
		if (names && memmem(names, one->sh_size, name, strlen(name) + 1))
			return true;
	}
	return false;
}

static const char *why_image(const struct image *image)
{
	static const char *const sanitizers[] = { "__asan_init", "__tsan_init", "__msan_init" };
	const Elf64_Ehdr *header = part(image, 0, sizeof(*header));
	size_t i;

	if (!header || memcmp(header->e_ident, ELFMAG, SELFMAG) != 0)
		return "it is neither an ELF file nor a script";
	if (header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_machine != OWN_MACHINE)
		return "it is for another machine than " OWN_NAME;
	if (has_section(image, header, ".go.buildinfo"))
		return "it is written in Go, which has threads of its own";
	if (!is_dynamic(image, header))
		return "it is statically linked, so it takes no library";
	for (i = 0; i < COUNT_OF(sanitizers); i++)
		if (has_name(image, header, sanitizers[i]))
			return "it was built with a sanitizer";
	return NULL;
}

static const char *why_file(int fd)
{
	struct image image;
	struct stat status;
	const char *why;
	void *bytes;

	if (fstat(fd, &status) || status.st_size <= 0)
		return "it cannot be read";
	if (status.st_mode & (S_ISUID | S_ISGID))
		return "it is setuid or setgid, so it takes no library";
	if (fgetxattr(fd, "security.capability", NULL, 0) > 0)
		return "its file has capabilities, so it takes no library";
	bytes = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (bytes == MAP_FAILED)
		return "it cannot be read";
	image = (struct image){ bytes, (size_t)status.st_size };
	why = why_image(&image);
	munmap(bytes, image.size);
	return why;
}

const char *why_unfit(const char *file)
{
	char *interpreter;
	const char *why;
	int i, fd;

	for (i = 0; i < MOST_INTERPRETERS; i++) {
		interpreter = interpreter_of(file);
		if (!interpreter)
			break;
		file = interpreter;
	}
	fd = open(file, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return "it cannot be read";
	why = why_file(fd);
	close(fd);
	return why;
}

const char *why_unfit_here(void)
{
	if (OWN_MACHINE == EM_NONE)
		return "this machine is neither x86-64 nor arm64";
	if (OWN_MACHINE == EM_X86_64 && !(getauxval(AT_HWCAP2) & HWCAP2_FSGSBASE))
		return "this machine lets no program change its thread pointer (FSGSBASE)";
	if (strtol(line_after("/proc/self/status", "TracerPid:"), NULL, 10))
		return "it is traced";
	return NULL;
}
