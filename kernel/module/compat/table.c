// SPDX-License-Identifier: GPL-2.0
/*
 * Finds sys_call_table.  register_kprobe() accepts the name of a symbol, looks it up whatever
 * kptr_restrict hides, and stores its address before it refuses to probe data.  So nothing is
 * probed, and no unexported function is called, which would be fatal with indirect branch
 * tracking.
 */
#include <linux/cache.h>
#include <linux/init.h>
#include <linux/kernel.h>
#include <linux/kprobes.h>
#include <linux/printk.h>
#include <linux/string.h>
#include <linux/unistd.h>
#include <asm/subcall.h>

const sys_call_ptr_t *ferry_table __ro_after_init;

/* The address of a data symbol; NULL if there is none. */
static void *__init find_data(const char *name)
{
	struct kprobe probe = { .symbol_name = name, .flags = KPROBE_FLAG_DISABLED };

	if (register_kprobe(&probe))
		return probe.addr;
	unregister_kprobe(&probe);
	return NULL;
}

/* Whether an indirect branch to HANDLER is allowed, if the kernel tracks these branches. */
static bool __init may_be_called(sys_call_ptr_t handler)
{
	static const u8 endbr64[] = { 0xf3, 0x0f, 0x1e, 0xfa };

	/* kCFI checks a type instead, which is the same for all handlers. */
	if (!IS_ENABLED(CONFIG_X86_KERNEL_IBT) || IS_ENABLED(CONFIG_CFI_CLANG) ||
	    IS_ENABLED(CONFIG_CFI))
		return true;
	return !memcmp(handler, endbr64, sizeof(endbr64));
}

/* The name of the call whose handler is SYMBOL; NULL if it is not a handler. */
static const char *__init call_of(const char *symbol)
{
	static const char *const prefixes[] = {
		"__x64_sys_", "__arm64_sys_",
		"__do_sys_", /* the second name of handlers without arguments */
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(prefixes); i++)
		if (!strncmp(symbol, prefixes[i], strlen(prefixes[i])))
			return symbol + strlen(prefixes[i]);
	return NULL;
}

/* Whether entry NR is a handler, of call NAME if that is given. */
static bool __init is_handler(unsigned long nr, const char *name)
{
	char symbol[KSYM_NAME_LEN];
	const char *call;

	snprintf(symbol, sizeof(symbol), "%ps", ferry_table[nr]);
	call = call_of(symbol);
	if (!call) {
		pr_err("entry %lu of sys_call_table is %s, which is no system call\n", nr, symbol);
		return false;
	}
	if (name && strcmp(call, name)) {
		pr_err("entry %lu of sys_call_table is %s, not %s\n", nr, symbol, name);
		return false;
	}
	if (!may_be_called(ferry_table[nr])) {
		pr_err("%s cannot be called from a module: it has no ENDBR64\n", symbol);
		return false;
	}
	return true;
}

int __init ferry_find_table(void)
{
	unsigned long nr;

	if (!IS_ENABLED(CONFIG_KPROBES) || !IS_ENABLED(CONFIG_KALLSYMS_ALL)) {
		pr_err("cannot find sys_call_table: the kernel lacks KPROBES or KALLSYMS_ALL\n");
		return -EOPNOTSUPP;
	}
	ferry_table = find_data("sys_call_table");
	if (!ferry_table) {
		pr_err("cannot find sys_call_table: kprobes know no data of that name\n");
		return -ENOENT;
	}
	for (nr = 0; nr < SUBCALL_NR_CALLS; nr++)
		if (!is_handler(nr, NULL))
			return -ENXIO;
	if (!is_handler(__NR_read, "read") || !is_handler(__NR_ioctl, "ioctl") ||
	    !is_handler(__NR_getpid, "getpid") || !is_handler(__NR_openat2, "openat2"))
		return -ENXIO;
	return 0;
}
