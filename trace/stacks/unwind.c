// SPDX-License-Identifier: MIT
#include "unwind.h"

#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

#include <elfutils/libdwfl.h>
#include <gelf.h>

#include "../hash.h"
#include "common/memory.h"
#include "images.h"

const char *stacks_missing(void)
{
	return NULL;
}

/* ---- the files of a process ---- */

#define NAMED 512 /* frames: a program has fewer where it makes calls */

/* Those of one process at one time, and the stack in it that is looked at. */
static struct {
	Dwfl *dwfl;
	pid_t process;
	size_t state;
	bool attached;
	const struct user_stack *stack;
	struct frame named[NAMED]; /* at a hash of the address: libdw remembers no line */
} session;

/* Every file is reported with its name, so there is none to be found. */
static int find_no_elf(Dwfl_Module *module, void **own, const char *name, Dwarf_Addr base,
		       char **file, Elf **elf)
{
	(void)module;
	(void)own;
	(void)name;
	(void)base;
	(void)file;
	(void)elf;
	return -1;
}

static const Dwfl_Callbacks callbacks = {
	.find_elf = find_no_elf,
	.find_debuginfo = dwfl_standard_find_debuginfo,
};

#define VDSO "[vdso]"
#define VDSO_ROOM ((size_t)64 << 10)

/* The kernel gives all programs of one architecture the same. */
static int open_vdso(size_t size)
{
	const unsigned long vdso = getauxval(AT_SYSINFO_EHDR);
	int file;

	if (!vdso || size > VDSO_ROOM)
		return -1;
	file = memfd_create(VDSO, MFD_CLOEXEC);
	if (file >= 0 && write(file, (const void *)vdso, size) != (ssize_t)size) {
		close(file);
		return -1;
	}
	return file;
}

/* As the process sees it, while it is there. */
static int open_mapped(pid_t process, const struct mapping *mapping)
{
	int file;

	if (!strcmp(mapping->path, VDSO))
		return open_vdso(mapping->end - mapping->start);
	if (*mapping->path != '/')
		return -1;
	file = open(keep_text("/proc/%d/root%s", process, mapping->path), O_RDONLY | O_CLOEXEC);
	return file < 0 ? open(mapping->path, O_RDONLY | O_CLOEXEC) : file;
}

/* Where the file's first segment is, if what lies at OFFSET of it is at START; 0: there is none. */
static uint64_t base_of(Elf *elf, uint64_t start, uint64_t offset)
{
	const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	uint64_t first = UINT64_MAX;
	size_t count = 0, i;

	elf_getphdrnum(elf, &count);
	for (i = 0; i < count; i++) {
		GElf_Phdr segment;

		if (!gelf_getphdr(elf, (int)i, &segment) || segment.p_type != PT_LOAD)
			continue;
		if (first == UINT64_MAX)
			first = segment.p_vaddr & -page;
		if ((segment.p_offset & -page) <= offset &&
		    offset < segment.p_offset + segment.p_filesz)
			return start - offset + segment.p_offset - segment.p_vaddr + first;
	}
	return 0;
}

static uint64_t base_in_memory(int file, const struct mapping *mapping)
{
	Elf *elf = elf_begin(file, ELF_C_READ_MMAP, NULL);
	uint64_t base = 0;

	if (elf && elf_kind(elf) == ELF_K_ELF)
		base = base_of(elf, mapping->start, mapping->offset);
	elf_end(elf);
	return base;
}

/* A file that was replaced, or is in another's root directory, may fail: it has no names then. */
static void report_file(pid_t process, const struct mapping *mapping)
{
	const int file = open_mapped(process, mapping);
	uint64_t base;

	if (file < 0)
		return;
	base = base_in_memory(file, mapping);
	/* The file is closed with the module, if it becomes one. */
	if (!base ||
	    !dwfl_report_elf(session.dwfl, mapping->path, mapping->path, file, base, false))
		close(file);
}

/* A file may be mapped as code in several pieces. */
static bool is_reported(const struct mapping *mappings, size_t at)
{
	size_t i;

	for (i = 0; i < at; i++)
		if (!strcmp(mappings[i].path, mappings[at].path))
			return true;
	return false;
}

static void report_files(pid_t process, uint64_t ns)
{
	size_t count, i;
	struct mapping *mappings = images_at(process, ns, &count);

	dwfl_report_begin(session.dwfl);
	for (i = 0; i < count; i++)
		if (!is_reported(mappings, i))
			report_file(process, &mappings[i]);
	dwfl_report_end(session.dwfl, NULL, NULL);
	free(mappings);
}

/* ---- the stack ---- */

static pid_t next_thread(Dwfl *dwfl, void *own, void **thread)
{
	(void)dwfl;
	(void)own;
	if (*thread)
		return 0;
	*thread = &session;
	return session.process;
}

static bool read_stack(Dwfl *dwfl, Dwarf_Addr address, Dwarf_Word *word, void *own)
{
	const struct user_stack *stack = session.stack;

	(void)dwfl;
	(void)own;
	if (address < stack->sp || address - stack->sp + sizeof(*word) > stack->size)
		return false;
	memcpy(word, stack->bytes + (address - stack->sp), sizeof(*word));
	return true;
}

static bool set_registers(Dwfl_Thread *thread, void *own)
{
	Dwarf_Word registers[STACK_REGISTERS];
	size_t i;

	(void)own;
	for (i = 0; i < STACK_REGISTERS; i++)
		registers[i] = session.stack->registers[i];
	dwfl_thread_state_register_pc(thread, session.stack->pc);
	return dwfl_thread_state_registers(thread, 0, STACK_REGISTERS, registers);
}

static const Dwfl_Thread_Callbacks thread_callbacks = {
	.next_thread = next_thread,
	.memory_read = read_stack,
	.set_initial_registers = set_registers,
};

static void begin(const struct user_stack *stack)
{
	const size_t state = images_state(stack->process, stack->ns);

	session.stack = stack;
	if (session.dwfl && session.process == stack->process && session.state == state)
		return;
	unwind_end();
	elf_version(EV_CURRENT);
	session.process = stack->process;
	session.state = state;
	session.dwfl = dwfl_begin(&callbacks);
	if (!session.dwfl)
		return;
	report_files(stack->process, stack->ns);
	session.attached =
		dwfl_attach_state(session.dwfl, NULL, stack->process, &thread_callbacks, NULL);
}

void unwind_end(void)
{
	if (session.dwfl)
		dwfl_end(session.dwfl);
	session.dwfl = NULL;
	session.attached = false;
	memset(session.named, 0, sizeof(session.named));
}

/* ---- frames ---- */

struct found {
	struct frame *of;
	size_t count, most;
};

static const char *last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return keep_text("%s", slash ? slash + 1 : path);
}

/* clang writes no index of addresses, without which libdw finds no line: asks each unit. */
static const char *line_of_unit(Dwfl_Module *module, struct frame *frame)
{
	Dwarf_Die *unit = NULL;
	Dwarf_Line *line;
	Dwarf_Addr bias;

	while ((unit = dwfl_module_nextcu(module, unit, &bias))) {
		if (dwarf_haspc(unit, frame->address - bias) != 1)
			continue;
		line = dwarf_getsrc_die(unit, frame->address - bias);
		if (!line || dwarf_lineno(line, &frame->line))
			return NULL;
		return dwarf_linesrc(line, NULL, NULL);
	}
	return NULL;
}

static void name_line(Dwfl_Module *module, struct frame *frame)
{
	Dwfl_Line *line = dwfl_module_getsrc(module, frame->address);
	const char *file = line ? dwfl_lineinfo(line, NULL, &frame->line, NULL, NULL, NULL) :
				  line_of_unit(module, frame);

	if (file)
		frame->source = last_part(file);
}

/* False where no file has its code, so that what was found behind it would be a guess. */
static bool name_frame(struct frame *frame)
{
	struct frame *named = &session.named[hash_number(frame->address, 0) % NAMED];
	Dwarf_Addr relative = frame->address;
	Dwfl_Module *module;
	const char *name;

	if (named->module && named->address == frame->address) {
		*frame = *named;
		return true;
	}
	module = dwfl_addrmodule(session.dwfl, frame->address);
	if (!module)
		return false;
	frame->module =
		last_part(dwfl_module_info(module, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
	dwfl_module_relocate_address(module, &relative);
	frame->offset = relative;
	name = dwfl_module_addrname(module, frame->address);
	frame->function = name ? keep_text("%s", name) : NULL;
	name_line(module, frame);
	*named = *frame;
	return true;
}

/* A caller is at its call, which ends where it is returned to. */
static int take_frame(Dwfl_Frame *state, void *context)
{
	struct found *found = context;
	struct frame *frame = &found->of[found->count];
	bool is_interrupted;
	Dwarf_Addr pc;

	if (!dwfl_frame_pc(state, &pc, &is_interrupted))
		return DWARF_CB_ABORT;
	*frame = (struct frame){ .address = is_interrupted ? pc : pc - 1 };
	if (!name_frame(frame))
		return DWARF_CB_ABORT;
	return ++found->count < found->most ? DWARF_CB_OK : DWARF_CB_ABORT;
}

size_t unwind(const struct user_stack *stack, struct frame frames[], size_t most)
{
	struct found found = { frames, 0, most };

	begin(stack);
	if (session.attached)
		dwfl_getthread_frames(session.dwfl, session.process, take_frame, &found);
	return found.count;
}
