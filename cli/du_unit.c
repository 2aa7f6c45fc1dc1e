// SPDX-License-Identifier: MIT
#include "du_unit.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "du_messages.h"

static const char letters[] = "KMGTPEZYRQ"; /* of the powers, from the first */

/* ---- numbers ---- */

/* The power that LETTER stands for, or 0. */
static unsigned int power_of(char letter)
{
	const char *found = letter ? strchr(letters, toupper((unsigned char)letter)) : NULL;

	return found ? (unsigned int)(found - letters) + 1 : 0;
}

static bool multiply(uint64_t *number, unsigned int base, unsigned int power)
{
	while (power--)
		if (__builtin_mul_overflow(*number, (uint64_t)base, number))
			return false;
	return true;
}

enum du_number du_parse_number(const char *text, uint64_t *number)
{
	const char *suffix;
	unsigned int power, base = 1024;
	char *end;

	errno = 0;
	*number = 1;
	suffix = text;
	if (isdigit((unsigned char)*text)) {
		*number = strtoull(text, &end, 0);
		suffix = end;
	} else if (!power_of(*text)) {
		return DU_NO_NUMBER;
	}
	if (errno == ERANGE)
		return DU_TOO_LARGE;
	if (!*suffix)
		return DU_NUMBER;
	power = power_of(*suffix);
	if (!power)
		return DU_BAD_SUFFIX;
	suffix++;
	if (*suffix == 'B' || *suffix == 'D') {
		base = 1000;
		suffix++;
	} else if (suffix[0] == 'i' && suffix[1] == 'B') {
		suffix += 2;
	}
	if (*suffix)
		return DU_BAD_SUFFIX;
	return multiply(number, base, power) ? DU_NUMBER : DU_TOO_LARGE;
}

void du_refuse_number(enum du_number why, const char *option, const char *text)
{
	if (why == DU_TOO_LARGE)
		du_complain("%s argument %s too large", option, du_quoted(text));
	else
		du_complain("invalid %s%s argument %s", why == DU_BAD_SUFFIX ? "suffix in " : "",
			    option, du_quoted(text));
}

/* ---- units ---- */

static bool abbreviates(const char *text, const char *word)
{
	return *text && !strncmp(text, word, strlen(text));
}

/* A unit without a number, such as "M", is printed after each size. */
static void set_suffix(struct du_unit *unit, const char *text)
{
	size_t length = strlen(text);
	bool binary = text[length - 1] != 'B' || (length > 1 && text[length - 2] == 'i');
	char letter = (char)toupper((unsigned char)*text);

	if (!binary && letter == 'K')
		letter = 'k';
	snprintf(unit->suffix, sizeof(unit->suffix), "%c%s", letter,
		 text[length - 1] != 'B' ? "" :
		 binary			 ? "iB" :
					   "B");
}

enum du_number du_parse_unit(const char *text, struct du_unit *unit)
{
	enum du_number parsed;

	*unit = (struct du_unit){ .block = 1 };
	if (*text == '\'') {
		unit->groups = true;
		text++;
	}
	if (abbreviates(text, "human-readable") || abbreviates(text, "si")) {
		unit->scale = *text == 'h' ? 1024 : 1000;
		return DU_NUMBER;
	}
	parsed = du_parse_number(text, &unit->block);
	if (parsed == DU_NUMBER && !unit->block)
		return DU_NO_NUMBER;
	if (parsed == DU_NUMBER && !isdigit((unsigned char)*text))
		set_suffix(unit, text);
	return parsed;
}

struct du_unit du_default_unit(void)
{
	static const char *const names[] = { "DU_BLOCK_SIZE", "BLOCK_SIZE", "BLOCKSIZE" };
	struct du_unit unit = { .block = getenv("POSIXLY_CORRECT") ? 512 : 1024 };
	struct du_unit found;
	const char *text;
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(*names); i++) {
		text = getenv(names[i]);
		if (text)
			return du_parse_unit(text, &found) == DU_NUMBER ? found : unit;
	}
	return unit;
}

/* ---- printing ---- */

static du_bytes divide_up(du_bytes value, du_bytes by)
{
	return value / by + (value % by != 0);
}

static void print_number(const struct du_unit *unit, du_bytes number)
{
	if (unit->groups)
		printf("%'llu", (unsigned long long)number);
	else
		printf("%llu", (unsigned long long)number);
}

/* One decimal below 10. */
static void print_scaled(const struct du_unit *unit, du_bytes amount)
{
	unsigned int power = 0;
	du_bytes size = 1, tenths;

	while (divide_up(amount, size) >= unit->scale && (amount / size >= unit->scale || power)) {
		size *= unit->scale;
		power++;
	}
	if (!power) {
		printf("%llu", (unsigned long long)amount);
		return;
	}
	tenths = divide_up(amount * 10, size);
	if (tenths < 100)
		printf("%u.%u", (unsigned int)tenths / 10, (unsigned int)tenths % 10);
	else
		print_number(unit, divide_up(amount, size));
	putchar(unit->scale == 1000 && power == 1 ? 'k' : letters[power - 1]);
}

void du_print_amount(const struct du_unit *unit, du_bytes amount)
{
	/* GNU du counts no further than a uint64_t. */
	if (amount >= UINT64_MAX)
		fputs("Infinity", stdout);
	else if (unit->scale)
		print_scaled(unit, amount);
	else {
		print_number(unit, divide_up(amount, unit->block));
		fputs(unit->suffix, stdout);
	}
}
