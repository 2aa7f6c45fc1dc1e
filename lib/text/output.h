/* SPDX-License-Identifier: MIT */
/* Bytes written one after another into memory that grows. */
#ifndef OUTPUT_H
#define OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Starts as zeroes.  Once memory ran out, writing does nothing. */
struct output {
	char *bytes;
	size_t length;
	size_t room;
	bool failed;
};

void output_bytes(struct output *output, const void *bytes, size_t length);
void output_text(struct output *output, const char *text);

/* At most 100 characters, more are cut; names go through output_text(). */
void output_format(struct output *output, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* The SIZE low bytes of VALUE, little-endian. */
void output_number(struct output *output, uint64_t value, size_t size);

/* Hands over the bytes, with a NUL behind them: 0 or -ENOMEM with everything freed. */
int output_finish(struct output *output, char **bytes, size_t *length);

#endif /* OUTPUT_H */
