// SPDX-License-Identifier: MIT
#include "fields.h"

#include <cstdint>
#include <cstring>
#include <string_view>

#include <sys/sysmacros.h>

namespace nb = nanobind;

namespace
{

constexpr int64_t NSEC_PER_SEC = 1000000000;

// Nanoseconds since 1970, which a word holds from 1677 to 2262.
int64_t nanoseconds(const struct statx_timestamp &time)
{
	int64_t value;

	if (__builtin_mul_overflow(time.tv_sec, NSEC_PER_SEC, &value) ||
	    __builtin_add_overflow(value, static_cast<int64_t>(time.tv_nsec), &value))
		return NOT_A_TIME;
	return value;
}

int64_t birth(const struct statx &file)
{
	return file.stx_mask & STATX_BTIME ? nanoseconds(file.stx_btime) : NOT_A_TIME;
}

template <typename T, typename F>
void store_each(const struct statx *const files[], size_t count, char *to, size_t stride, T none,
		F get)
{
	for (size_t i = 0; i < count; i++, to += stride) {
		T value = files[i] ? static_cast<T>(get(*files[i])) : none;

		memcpy(to, &value, sizeof(value));
	}
}

#define FIELD(name, dtype, type, none, mask, value)                                               \
	{                                                                                         \
		name, dtype, sizeof(type), mask,                                                  \
			[](const struct statx *const files[], size_t count, char *to,             \
			   size_t stride) {                                                       \
				store_each<type>(files, count, to, stride, none,                  \
						 [](const struct statx &file) { return value; }); \
			}                                                                         \
	}
#define NUMBER(name, dtype, type, mask, value) FIELD(name, dtype, type, 0, mask, value)
#define TIME(name, mask, value) FIELD(name, "M8[ns]", int64_t, NOT_A_TIME, mask, value)

const Field FIELDS[] = {
	NUMBER("mode", "u4", uint32_t, STATX_TYPE | STATX_MODE, file.stx_mode),
	NUMBER("nlink", "u4", uint32_t, STATX_NLINK, file.stx_nlink),
	NUMBER("uid", "u4", uint32_t, STATX_UID, file.stx_uid),
	NUMBER("gid", "u4", uint32_t, STATX_GID, file.stx_gid),
	NUMBER("dev", "u8", uint64_t, 0, makedev(file.stx_dev_major, file.stx_dev_minor)),
	NUMBER("rdev", "u8", uint64_t, 0, makedev(file.stx_rdev_major, file.stx_rdev_minor)),
	NUMBER("ino", "u8", uint64_t, STATX_INO, file.stx_ino),
	NUMBER("size", "i8", int64_t, STATX_SIZE, file.stx_size),
	NUMBER("blocks", "i8", int64_t, STATX_BLOCKS, file.stx_blocks),
	NUMBER("blksize", "i8", int64_t, 0, file.stx_blksize),
	TIME("atime", STATX_ATIME, nanoseconds(file.stx_atime)),
	TIME("mtime", STATX_MTIME, nanoseconds(file.stx_mtime)),
	TIME("ctime", STATX_CTIME, nanoseconds(file.stx_ctime)),
	TIME("btime", STATX_BTIME, birth(file)),
};

const Field *find(std::string_view name)
{
	for (const Field &field : FIELDS)
		if (field.name == name)
			return &field;
	throw nb::key_error("there is no field with this name");
}

} // namespace

Layout::Layout(nb::handle places, size_t size) : size_(size)
{
	for (nb::handle place : places) {
		const Field *field = find(nb::cast<const char *>(place[0]));
		size_t offset = nb::cast<size_t>(place[1]);

		if (offset > size || size - offset < field->size)
			throw nb::value_error("a field lies outside its record");
		places_.push_back({ field, offset });
		mask_ |= field->mask;
	}
}

nb::dict field_types()
{
	nb::dict types;

	for (const Field &field : FIELDS)
		types[field.name] = field.dtype;
	return types;
}
