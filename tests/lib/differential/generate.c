// SPDX-License-Identifier: MIT
/*
 * Programs are random but harmless.  Each argument has a kind.  Arguments of some kinds
 * may have any value, so results are forwarded or copied only into those: no program
 * can write outside its areas, or wait, or close what the tester needs.
 */
#include "generate.h"

#include <errno.h>
#include <fcntl.h>
#include <ferry/blocked.h>
#include <limits.h>
#include <linux/subcall.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include "random.h"
#include "world.h"

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

enum kind {
	NONE,
	/* may have any value */
	FD,	/* of a call that does not close or replace it */
	COUNT,	/* of bytes in a buffer */
	OFFSET, /* in a file */
	VALUE,	/* returned by lseek on FD_ANY_RESULT */
	ANY,
	/* may not have any value */
	FREED,	 /* a descriptor to close */
	NEW,	 /* a descriptor to create */
	READ_TO, /* a buffer */
	WRITE_FROM,
	PAIR,	 /* where two descriptors are stored */
	STAT,	 /* a buffer for fstat */
	VECTORS, /* an array of iovecs in the pool */
	VECTOR_COUNT,
	NAME,	/* of a file, in the pool */
	WINDOW, /* an address for mmap */
	WINDOW_SIZE,
	PROTECTION,
	MAP_FLAGS,
	OPEN_FLAGS,
	STATUS_FLAGS,
	MESSAGE_FLAGS,
	WHENCE,
	ANY_RESULT, /* the descriptor whose lseek returns its argument */
	TO,	    /* addresses of a word copy */
	FROM,
	FIXED, /* a constant of the call */
};

static bool holds_anything(enum kind kind)
{
	return kind >= FD && kind <= ANY;
}

struct call {
	const char *name;
	short nr;
	unsigned char weight;
	bool makes_descriptor;
	enum kind kinds[BATCH_MAX_ARGS];
	long fixed[BATCH_MAX_ARGS]; /* of the FIXED arguments */
};

#define CALL(call) .nr = SYS_##call, .name = "SYS_" #call

static const struct call table[] = {
	{ CALL(getpid), .weight = 6 },
	{ CALL(getppid), .weight = 6, .kinds = { ANY, ANY, ANY, ANY, ANY, ANY } },
	{ CALL(lseek), .weight = 16, .kinds = { ANY_RESULT, VALUE, FIXED } },
	{ CALL(read), .weight = 14, .kinds = { FD, READ_TO, COUNT } },
	{ CALL(write), .weight = 14, .kinds = { FD, WRITE_FROM, COUNT } },
	{ CALL(pread64), .weight = 10, .kinds = { FD, READ_TO, COUNT, OFFSET } },
	{ CALL(pwrite64), .weight = 10, .kinds = { FD, WRITE_FROM, COUNT, OFFSET } },
	{ CALL(readv), .weight = 2, .kinds = { FD, VECTORS, VECTOR_COUNT } },
	{ CALL(writev), .weight = 2, .kinds = { FD, VECTORS, VECTOR_COUNT } },
	{ CALL(preadv), .weight = 1, .kinds = { FD, VECTORS, VECTOR_COUNT, OFFSET, FIXED } },
	{ CALL(pwritev), .weight = 1, .kinds = { FD, VECTORS, VECTOR_COUNT, OFFSET, FIXED } },
	{ CALL(sendto), .weight = 3,
	  .kinds = { FD, WRITE_FROM, COUNT, MESSAGE_FLAGS, FIXED, FIXED } },
	{ CALL(recvfrom), .weight = 3,
	  .kinds = { FD, READ_TO, COUNT, MESSAGE_FLAGS, FIXED, FIXED } },
	{ CALL(lseek), .weight = 8, .kinds = { FD, OFFSET, WHENCE } },
	{ CALL(ftruncate), .weight = 3, .kinds = { FD, OFFSET } },
	{ CALL(fstat), .weight = 3, .kinds = { FD, STAT } },
	{ CALL(dup), .weight = 4, .makes_descriptor = true, .kinds = { FD } },
#ifdef SYS_dup2
	{ CALL(dup2), .weight = 3, .makes_descriptor = true, .kinds = { FD, NEW } },
#endif
	{ CALL(dup3), .weight = 2, .makes_descriptor = true, .kinds = { FD, NEW, FIXED },
	  .fixed = { 0, 0, O_CLOEXEC } },
	{ CALL(fcntl), .weight = 2, .makes_descriptor = true, .kinds = { FD, FIXED, NEW },
	  .fixed = { 0, F_DUPFD } },
	{ CALL(fcntl), .weight = 1, .kinds = { FD, FIXED }, .fixed = { 0, F_GETFD } },
	{ CALL(fcntl), .weight = 1, .kinds = { FD, FIXED, ANY }, .fixed = { 0, F_SETFD } },
	{ CALL(fcntl), .weight = 1, .kinds = { FD, FIXED }, .fixed = { 0, F_GETFL } },
	{ CALL(fcntl), .weight = 2, .kinds = { FD, FIXED, STATUS_FLAGS }, .fixed = { 0, F_SETFL } },
	{ CALL(close), .weight = 5, .kinds = { FREED } },
	{ CALL(openat), .weight = 4, .makes_descriptor = true,
	  .kinds = { FD, NAME, OPEN_FLAGS, FIXED }, .fixed = { 0, 0, 0, 0600 } },
	{ CALL(unlinkat), .weight = 2, .kinds = { FD, NAME, FIXED } },
	{ CALL(eventfd2), .weight = 1, .makes_descriptor = true, .kinds = { FIXED, FIXED },
	  .fixed = { 3, EFD_NONBLOCK } },
	{ CALL(pipe2), .weight = 1, .kinds = { PAIR, FIXED }, .fixed = { 0, O_NONBLOCK } },
	{ CALL(mmap), .weight = 2,
	  .kinds = { WINDOW, WINDOW_SIZE, PROTECTION, MAP_FLAGS, FIXED, FIXED },
	  .fixed = { 0, 0, 0, 0, -1, 0 } },
	{ CALL(munmap), .weight = 1, .kinds = { WINDOW, WINDOW_SIZE } },
	{ .nr = BATCH_WDCPY, .name = "BATCH_WDCPY", .weight = 20, .kinds = { TO, FROM } },
	{ .nr = -1, .name = "-1", .weight = 5, .kinds = { ANY, ANY, ANY, ANY, ANY, ANY } },
};

/* Indexes of these in the table, from FIRST_TRANSFER on. */
#define FIRST_TRANSFER 3
enum transfer { READ, WRITE, PREAD, PWRITE, TRANSFERS };

const char *call_name(short nr)
{
	size_t i;

	for (i = 0; i < LENGTH(table); i++)
		if (table[i].nr == nr)
			return table[i].name;
	return NULL;
}

static const short refused[] = {
#define NUMBER(ctx, number, text, reason) number,
	SUBCALL_BLOCKED_TABLE(NUMBER, )
#undef NUMBER
		- 3,
	-4,
	-100,
	SHRT_MIN,
	SHRT_MIN + 39,
	511,
	512,
	513,
	4096,
	32767,
};

/* ---- a program in the making ---- */

struct maker {
	struct random random;
	struct program *program;
	unsigned long i;		     /* the slot being made */
	unsigned long count;		     /* the number of slots in the end */
	const struct call *calls[MAX_SLOTS]; /* what each slot calls, or NULL */
};

static unsigned long below(struct maker *make, unsigned long limit)
{
	return random_below(&make->random, limit);
}

static bool percent(struct maker *make, unsigned int chance)
{
	return random_percent(&make->random, chance);
}

#define PICK(make, array) ((array)[below(make, LENGTH(array))])

/* ---- the pool: words that programs copy, valid wherever they are copied ---- */

enum {
	POOL_HEADS = 0, /* words 0 .. 63: first words of slots that are safe with any arguments */
	POOL_BUFFERS = 64, /* 64 .. 127: addresses of buffers, good and bad */
	POOL_GOOD = 128,   /* 128 .. 159: addresses of words that can be read and written */
	POOL_VALUES = 160, /* 160 .. 191: numbers */
	POOL_VECTORS = 192 /* 192 .. 255: iovecs */
};

#define POOL_WORD(i) (POOL_AT + 8UL * (i))

static const long values[] = {
	0,     1,     2,     3,	    8,	   64,	    100,      4096,	4999,	  5000,	    5001,
	12287, 12288, 12289, 32768, 65536, INT_MAX, 1L << 31, 1L << 32, LONG_MAX, -1,	    -2,
	-38,   -4094, -4095, -4096, -4097, -65536,  LONG_MIN, INT_MIN,	UINT_MAX, 1L << 62,
};

static short small_jump(struct random *random)
{
	static const short jumps[] = { 1,  1,  1,  2,	2,   3,	 4,  5,	       7,	12,
				       20, 63, 64, 100, 300, -1, -2, SHRT_MIN, SHRT_MAX };

	return jumps[random_below(random, LENGTH(jumps))];
}

static long safe_head(struct random *random)
{
	static const short numbers[] = {
		SYS_getpid, SYS_getppid, -1, SYS_getpid, 511, -7, SYS_getppid, SYS_restart_syscall
	};
	struct batch_slot slot = { .nr = numbers[random_below(random, LENGTH(numbers))] };
	long word;

	if (random_percent(random, 40))
		slot.jump_fail = small_jump(random);
	if (random_percent(random, 40))
		slot.jump_pos = small_jump(random);
	memcpy(&word, &slot, sizeof(word));
	return word;
}

static long buffer_address(struct random *random)
{
	unsigned long at = random_below(random, BUFFERS_SIZE);

	switch (random_below(random, 20)) {
	case 0:
		return 0;
	case 1:
		return (long)NOWHERE_AT;
	case 2:
		return LONG_MIN;
	case 3:
		return (long)(BUFFERS_AT + BUFFERS_SIZE - random_below(random, 64));
	case 4:
		return (long)(POOL_AT + at % 1024);
	case 5:
		return (long)(WINDOW_AT + at % (WINDOW_PAGES * PAGE));
	case 6:
		return (long)(BUFFERS_AT - 8);
	default:
		return (long)(BUFFERS_AT + at % 512);
	}
}

void pool_fill(unsigned char pool[])
{
	struct random random = { .state = 1 };
	long *words = (long *)pool;
	int i;

	for (i = 0; i < 64; i++)
		words[POOL_HEADS + i] = safe_head(&random);
	for (i = 0; i < 64; i++)
		words[POOL_BUFFERS + i] = buffer_address(&random);
	for (i = 0; i < 32; i++)
		words[POOL_GOOD + i] = (long)(BUFFERS_AT + random_below(&random, 512));
	for (i = 0; i < 32; i++)
		words[POOL_VALUES + i] = values[i];
	for (i = 0; i < 32; i++) {
		words[POOL_VECTORS + 2 * i] = buffer_address(&random);
		words[POOL_VECTORS + 2 * i + 1] = (long)random_below(&random, 200);
	}
	for (i = 0; i < NAMES; i++)
		snprintf((char *)(pool + (NAME_AT(i) - POOL_AT)), 16, "file%d", i);
}

void images_fill(struct batch_slot images[])
{
	struct random random = { .state = 2 };
	unsigned long i;

	for (i = 0; i < IMAGES; i++) {
		struct batch_slot slot = { .arg = { FD_ANY_RESULT } };
		long head = safe_head(&random);

		memcpy(&slot, &head, sizeof(head));
		slot.arg[1] = values[random_below(&random, LENGTH(values))];
		if (random_percent(&random, 50))
			slot.nr = SYS_lseek;
		if (random_percent(&random, 30)) {
			slot.argc = BATCH_ARGC_FORWARD;
			slot.from[1] = (unsigned char)random_below(&random, 10);
			slot.reserved = random_percent(&random, 10);
		}
		images[i] = slot;
	}
}

/* ---- arguments ---- */

static long some_fd(struct maker *make)
{
	static const int odd[] = { 0, -1, FD_FREE, FD_FREE + 1, FD_FREE + 2, 97, INT_MIN, -100 };

	if (percent(make, 8))
		return PICK(make, odd);
	if (percent(make, 3))
		return (long)(1UL << 32 | (3 + below(make, FD_FREE - 3)));
	return (long)(3 + below(make, FD_FREE - 3));
}

static long some_count(struct maker *make)
{
	static const long odd[] = { 4095,	    4096,	4097,	    5000,     8192,
				    16384,	    0x7ffff000, 0x7fffffff, 1L << 31, 1L << 32,
				    (1L << 32) + 5, -1,		LONG_MIN,   LONG_MAX, 1000 };

	if (percent(make, 10))
		return PICK(make, odd);
	return (long)below(make, percent(make, 50) ? 17 : 300);
}

static long some_offset(struct maker *make)
{
	if (percent(make, 40))
		return (long)below(make, 100);
	if (percent(make, 50))
		return (long)(4900 + below(make, 200));
	return PICK(make, values);
}

static long some_result(struct maker *make)
{
	return percent(make, 70) ? PICK(make, values) : (long)below(make, 40);
}

static long some_buffer(struct maker *make, enum kind kind)
{
	if (percent(make, 8))
		return (long)(RETS_AT + 8 * below(make, make->count));
	if (kind == WRITE_FROM && percent(make, 8))
		return (long)(SLOTS_AT + 8 * below(make, 8 * make->count));
	if (percent(make, 85))
		return (long)(BUFFERS_AT + below(make, 600));
	return buffer_address(&make->random);
}

static unsigned long slot_ahead(struct maker *make)
{
	unsigned long ahead = make->i + below(make, 12);

	return ahead < make->count ? ahead : make->count - 1;
}

static long some_word(struct maker *make)
{
	switch (below(make, 4)) {
	case 0:
		return (long)(BUFFERS_AT + below(make, 600));
	case 1:
		return (long)POOL_WORD(POOL_VALUES + below(make, 32));
	case 2:
		return (long)(SLOTS_AT + 8 * below(make, 8 * make->count));
	default:
		return (long)(RETS_AT + 8 * below(make, make->count));
	}
}

/* Both arguments of a word copy, because the target depends on what is read. */
static void word_copy(struct maker *make, struct batch_slot *slot)
{
	slot->arg[1] = some_word(make);
	slot->arg[0] = (long)(BUFFERS_AT + below(make, 600));
	switch (below(make, 10)) {
	case 0:
	case 1:
		slot->arg[0] = (long)(RETS_AT + 8 * below(make, make->count));
		break;
	case 2:
	case 3:
	case 4: /* the head of a later slot, or of this one */
		slot->arg[0] = (long)(SLOTS_AT + 64 * slot_ahead(make));
		slot->arg[1] = (long)POOL_WORD(POOL_HEADS + below(make, 64));
		break;
	default:
		break;
	}
}

static long some_open_flags(struct maker *make)
{
	static const int flags[] = { O_RDONLY,
				     O_RDWR | O_CREAT,
				     O_WRONLY | O_CREAT | O_TRUNC,
				     O_RDWR | O_CREAT | O_EXCL,
				     O_WRONLY | O_CREAT | O_APPEND,
				     O_RDONLY | O_DIRECTORY,
				     O_RDWR | O_CREAT | O_CLOEXEC,
				     O_PATH };

	return PICK(make, flags) | O_NONBLOCK;
}

static long some_message_flags(struct maker *make)
{
	static const int flags[] = { 0, 0, 0, MSG_PEEK, MSG_TRUNC, MSG_NOSIGNAL };

	return PICK(make, flags) | MSG_DONTWAIT;
}

static long some_map_flags(struct maker *make)
{
	static const int flags[] = { MAP_PRIVATE, MAP_PRIVATE, MAP_PRIVATE, 0 };

	return PICK(make, flags) | MAP_ANONYMOUS | MAP_FIXED;
}

static long argument(struct maker *make, const struct call *call, int k)
{
	static const int whences[] = { SEEK_SET, SEEK_SET, SEEK_CUR, SEEK_END, 9, -1 };
	static const int protections[] = { PROT_READ | PROT_WRITE, PROT_READ | PROT_WRITE,
					   PROT_READ, PROT_NONE };

	switch (call->kinds[k]) {
	case FD:
		return some_fd(make);
	case COUNT:
		return some_count(make);
	case OFFSET:
		return some_offset(make);
	case VALUE:
		return some_result(make);
	case FREED:
	case NEW:
		return percent(make, 5) ? -1 : (long)(3 + below(make, FD_LIMIT - 3));
	case READ_TO:
	case WRITE_FROM:
		return some_buffer(make, call->kinds[k]);
	case PAIR:
		return (long)(BUFFERS_AT + below(make, 600));
	case STAT:
		return percent(make, 5) ? 0 : (long)(STAT_AT + STAT_SIZE * below(make, STATS));
	case VECTORS:
		return (long)POOL_WORD(POOL_VECTORS + 2 * below(make, 28));
	case VECTOR_COUNT:
		return (long)below(make, 5) - percent(make, 3);
	case NAME:
		return (long)NAME_AT(below(make, NAMES));
	case WINDOW:
		return (long)(WINDOW_AT + PAGE * below(make, WINDOW_PAGES) + percent(make, 5));
	case WINDOW_SIZE:
		return percent(make, 10) ? 0 : (long)PAGE;
	case PROTECTION:
		return PICK(make, protections);
	case MAP_FLAGS:
		return some_map_flags(make);
	case OPEN_FLAGS:
		return some_open_flags(make);
	case STATUS_FLAGS:
		return O_NONBLOCK | (percent(make, 50) ? O_APPEND : 0);
	case MESSAGE_FLAGS:
		return some_message_flags(make);
	case WHENCE:
		return PICK(make, whences);
	case ANY_RESULT:
		return FD_ANY_RESULT;
	case FIXED:
		return call->fixed[k];
	case ANY:
	case NONE:
	default:
		return PICK(make, values);
	}
}

/* ---- common to all slots: jumps, argc, forwarding ---- */

static short some_jump(struct maker *make)
{
	if (percent(make, 75))
		return 0;
	if (percent(make, 8)) /* the end, and around it */
		return (short)(make->count - make->i - 2 + below(make, 3));
	return small_jump(&make->random);
}

static void add_jumps(struct maker *make, struct batch_slot *slot)
{
	if (percent(make, 50))
		return;
	slot->jump_fail = some_jump(make);
	slot->jump_zero = some_jump(make);
	slot->jump_pos = some_jump(make);
}

/* The distance from slot I back to a slot that creates a descriptor, or 0. */
static unsigned char back_to_descriptor(struct maker *make)
{
	unsigned long d = 1 + below(make, 8);

	if (d > make->i || !make->calls[make->i - d] || !make->calls[make->i - d]->makes_descriptor)
		return 0;
	return (unsigned char)d;
}

static unsigned char some_distance(struct maker *make)
{
	unsigned long d = 1 + below(make, percent(make, 80) ? 8 : 255);

	return (unsigned char)(d <= make->i || percent(make, 20) ? d : make->i);
}

static void add_forwarding(struct maker *make, const struct call *call, struct batch_slot *slot)
{
	int k;

	slot->argc |= BATCH_ARGC_FORWARD;
	for (k = 0; k < BATCH_MAX_ARGS; k++) {
		if (!percent(make, 50))
			continue;
		if (call && call->kinds[k] == FREED)
			slot->from[k] = back_to_descriptor(make);
		else if (call && holds_anything(call->kinds[k]))
			slot->from[k] = some_distance(make);
	}
	if (percent(make, 4) && make->i < 255)
		slot->from[below(make, 6)] =
			(unsigned char)(make->i + 1 + below(make, 255 - make->i));
	if (percent(make, 4))
		slot->reserved = (unsigned char)(1 + below(make, 255));
}

/* Bytes that are ignored without bit 7. */
static void add_noise(struct maker *make, struct batch_slot *slot)
{
	int k;

	for (k = 0; k < BATCH_MAX_ARGS; k++)
		slot->from[k] = (unsigned char)below(make, 256);
	slot->reserved = (unsigned char)below(make, 256);
}

static void add_rest(struct maker *make, const struct call *call, struct batch_slot *slot)
{
	add_jumps(make, slot);
	if (percent(make, 15))
		add_forwarding(make, call, slot);
	else if (percent(make, 10))
		add_noise(make, slot);
	if (percent(make, 2))
		slot->argc = (unsigned char)((slot->argc & BATCH_ARGC_FORWARD) |
					     (7 + (percent(make, 50) ? 0 : below(make, 121))));
}

/* ---- slots ---- */

static void put(struct maker *make, const struct call *call, const struct batch_slot *slot)
{
	make->calls[make->i] = call;
	make->program->slots[make->i++] = *slot;
}

static const struct call *some_call(struct maker *make)
{
	unsigned long total = 0;
	unsigned long at;
	size_t i;

	for (i = 0; i < LENGTH(table); i++)
		total += table[i].weight;
	at = below(make, total);
	for (i = 0; at >= table[i].weight; i++)
		at -= table[i].weight;
	return &table[i];
}

static struct batch_slot slot_of(struct maker *make, const struct call *call)
{
	struct batch_slot slot = { .nr = call->nr };
	int k;

	for (k = 0; k < BATCH_MAX_ARGS; k++) {
		slot.arg[k] = argument(make, call, k);
		if (call->kinds[k] != NONE)
			slot.argc = (unsigned char)(k + 1);
	}
	if (call->nr == BATCH_WDCPY)
		word_copy(make, &slot);
	return slot;
}

static void put_call(struct maker *make)
{
	const struct call *call = some_call(make);
	struct batch_slot slot = slot_of(make, call);

	add_rest(make, call, &slot);
	put(make, call, &slot);
}

static void put_refused(struct maker *make)
{
	struct batch_slot slot = { .nr = PICK(make, refused) };
	int k;

	for (k = 0; k < BATCH_MAX_ARGS; k++)
		slot.arg[k] = PICK(make, values);
	slot.argc = (unsigned char)below(make, 7);
	add_rest(make, NULL, &slot);
	put(make, NULL, &slot);
}

/*
 * A slot that overwrites slots, sometimes itself: with IMAGES, or with zeroes, which are
 * read(0, 0, 0).
 */
static void put_overwriter(struct maker *make, bool images)
{
	unsigned long to = slot_ahead(make);
	unsigned long room = make->count - to;
	unsigned long slots = 1 + below(make, room < 4 ? room : 4);
	struct batch_slot slot = {
		.nr = images ? SYS_pread64 : SYS_read,
		.argc = images ? 4 : 3,
		.arg = { images ? FD_IMAGES : FD_ZEROES, (long)(SLOTS_AT + 64 * to),
			 (long)(64 * slots), (long)(64 * below(make, IMAGES - 4)) },
	};

	if (percent(make, 50))
		add_jumps(make, &slot);
	put(make, NULL, &slot);
}

static void put_something(struct maker *make)
{
	if (percent(make, 6))
		put_refused(make);
	else if (percent(make, 4))
		put_overwriter(make, percent(make, 70));
	else
		put_call(make);
}

/* A call on a descriptor; half of them are calls that engines may send together. */
static const struct call *some_transfer(struct maker *make, long *fd)
{
	static const int likely[] = { FD_DISK,	     FD_NULL,  FD_ZERO,	 FD_MEMORY,
				      FD_READ_ONLY,  FD_NULL,  FD_ZERO,	 FD_PIPE_READ,
				      FD_PIPE_WRITE, FD_EVENT, FD_SOCKET };
	static const struct {
		enum transfer transfer;
		int fd;
	} fit[] = { { READ, FD_ZERO },	  { WRITE, FD_NULL }, { PREAD, FD_ZERO },
		    { PWRITE, FD_NULL },  { PREAD, FD_DISK }, { PREAD, FD_MEMORY },
		    { PREAD, FD_IMAGES }, { WRITE, FD_ZERO }, { PREAD, FD_READ_ONLY } };
	unsigned long i = below(make, LENGTH(fit));

	if (percent(make, 50)) {
		*fd = fit[i].fd;
		return &table[FIRST_TRANSFER + fit[i].transfer];
	}
	*fd = percent(make, 80) ? PICK(make, likely) : some_fd(make);
	return &table[FIRST_TRANSFER + below(make, TRANSFERS)];
}

/* A run of similar calls on one descriptor, and slots that may break it. */
static void put_run(struct maker *make, unsigned long length)
{
	long fd;
	const struct call *call = some_transfer(make, &fd);
	long count = percent(make, 80) ? (long)(1 + below(make, 32)) : some_count(make);
	long step = (long)below(make, 12);
	unsigned int oddness = percent(make, 40) ? 0 : (unsigned int)below(make, 20);
	struct batch_slot common = { 0 }; /* the jumps of all of them */
	unsigned long n;

	if (percent(make, 30))
		add_jumps(make, &common);
	for (n = 0; n < length && make->i < make->count; n++) {
		struct batch_slot slot = slot_of(make, call);

		slot.arg[0] = fd;
		slot.jump_fail = common.jump_fail;
		slot.jump_zero = common.jump_zero;
		slot.jump_pos = common.jump_pos;
		if (!percent(make, oddness)) {
			slot.arg[1] = (long)(BUFFERS_AT + (unsigned long)step * n % 600);
			slot.arg[2] = count;
			slot.arg[3] = step * (long)n;
		}
		if (percent(make, oddness))
			add_rest(make, call, &slot);
		put(make, call, &slot);
		if (fd == FD_IMAGES && percent(make, 5) && make->i < make->count)
			put_overwriter(make, true);
		if (percent(make, oddness / 3) && make->i < make->count)
			put_something(make);
	}
}

/* ---- programs ---- */

static unsigned long some_length(struct maker *make, unsigned long max)
{
	unsigned long length = 1 + below(make, percent(make, 60) ? 16 :
					       percent(make, 50) ? 64 :
								   300);

	return length < max ? length : max;
}

/*
 * Makes some word copies write arguments of later slots that may have any value, except
 * the first of a call without arguments: zeroes over the number would make it a read.
 */
static void aim_word_copies(struct maker *make)
{
	struct batch_slot *slots = make->program->slots;
	unsigned long i;

	for (i = 0; i + 1 < make->count; i++) {
		unsigned long target =
			i + 1 + below(make, make->count - i - 1 < 16 ? make->count - i - 1 : 16);
		unsigned long k = below(make, BATCH_MAX_ARGS);

		if (slots[i].nr != BATCH_WDCPY || !percent(make, 60) || !make->calls[target])
			continue;
		if (make->calls[target]->kinds[k] == ANY ||
		    !holds_anything(make->calls[target]->kinds[k]))
			continue;
		slots[i].arg[0] = (long)(SLOTS_AT + 64 * target + 16 + 8 * k);
		slots[i].arg[1] = some_word(make);
	}
}

/* Sometimes ncall is less than the number of slots, sometimes more. */
static void claim(struct maker *make)
{
	struct program *program = make->program;

	program->ncall = program->count;
	if (percent(make, 2))
		program->ncall = below(make, program->count + 1);
	if (program->count % SLOTS_PER_PAGE == 0 && percent(make, 50))
		program->ncall += 1 + below(make, 1000);
}

void generate_from(struct program *program, struct random *random, unsigned long max)
{
	struct maker make = { .random = *random, .program = program };

	memset(program, 0, sizeof(*program));
	make.count = some_length(&make, max);
	if (percent(&make, 4) && max >= SLOTS_PER_PAGE)
		make.count = SLOTS_PER_PAGE * (1 + below(&make, max / SLOTS_PER_PAGE));
	program->count = make.count;
	while (make.i < make.count) {
		if (make.count > 20 && percent(&make, 10))
			put_run(&make, 20 + below(&make, 180));
		else
			put_something(&make);
	}
	aim_word_copies(&make);
	claim(&make);
	*random = make.random;
}

void generate(struct program *program, uint64_t seed, uint64_t index, unsigned long max)
{
	struct random random = random_for(seed, index);

	generate_from(program, &random, max);
}
