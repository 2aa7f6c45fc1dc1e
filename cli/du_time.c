// SPDX-License-Identifier: MIT
#include "du_time.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/memory.h"
#include "du_messages.h"

const char *du_time_format(const char *style)
{
	static const struct {
		const char *name, *format;
	} styles[] = {
		{ "full-iso", "%Y-%m-%d %H:%M:%S.%N %z" },
		{ "long-iso", "%Y-%m-%d %H:%M" },
		{ "iso", "%Y-%m-%d" },
	};
	size_t i;

	if (*style == '+')
		return style + 1;
	for (i = 0; i < sizeof(styles) / sizeof(*styles); i++)
		if (*style && !strncmp(styles[i].name, style, strlen(style)))
			return styles[i].format;
	return NULL;
}

/* FORMAT with digits for %N, which strftime() does not know. */
static char *with_nanoseconds(const char *format, unsigned int nanoseconds)
{
	char *text = allocate(5 * strlen(format) + 2, 1), *at = text;

	for (; *format; format++) {
		if (format[0] == '%' && format[1] == 'N') {
			at += sprintf(at, "%09u", nanoseconds);
			format++;
			continue;
		}
		*at++ = *format;
		if (format[0] == '%' && format[1])
			*at++ = *++format;
	}
	/* So that an empty result differs from one that did not fit. */
	*at = ' ';
	return text;
}

static void print_formatted(const char *format, const struct tm *time)
{
	size_t room = 128, length = 0;
	char *text = NULL;

	while (!length && room < 1 << 20) {
		free(text);
		room *= 2;
		text = allocate(room, 1);
		length = strftime(text, room, format, time);
	}
	if (length)
		fwrite(text, 1, length - 1, stdout);
	free(text);
}

void du_print_time(const char *format, const struct du_time *time)
{
	time_t seconds = time->seconds;
	struct tm fields;
	char *full;

	if (!localtime_r(&seconds, &fields)) {
		du_complain("time '%lld' is out of range", (long long)seconds);
		printf("%lld", (long long)seconds);
		return;
	}
	full = with_nanoseconds(format, time->nanoseconds);
	print_formatted(full, &fields);
	free(full);
}
