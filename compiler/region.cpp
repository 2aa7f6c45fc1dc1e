// SPDX-License-Identifier: MIT
#include "region.h"

#include <algorithm>

namespace ferry
{

const std::vector<Jump> &Slot::jumpsAfter(int k) const
{
	const unsigned possible = outcomesOf(*wrapper);

	if (possible & OUTCOMES[k])
		return jumps[k];
	return k == 1 || !(possible & Zero) ? jumps[2] : jumps[1];
}

int Region::slotOf(const llvm::Value *call) const
{
	for (size_t i = 0; i < slots.size(); i++)
		if (slots[i].call == call)
			return i;
	return -1;
}

unsigned Region::length() const
{
	unsigned length = 0;

	for (const Slot &slot : slots)
		length += slot.copies + 1;
	return length;
}

/* Whether a row of calls goes on after outcome K of FROM: descriptor 0 is seldom free. */
static bool goesOn(const Slot &from, int k, const Slot &to)
{
	if (OUTCOMES[k] == Failed)
		return from.wrapper == to.wrapper;
	return OUTCOMES[k] == Positive || from.wrapper->result != Result::descriptor;
}

unsigned Region::inARow() const
{
	std::vector<unsigned> row(slots.size(), 1);

	for (size_t i = slots.size(); i-- > 0;)
		for (int k = 0; k < 3; k++)
			for (const Jump &jump : slots[i].jumps[k])
				if (goesOn(slots[i], k, slots[jump.target]))
					row[i] = std::max(row[i], 1 + row[jump.target]);
	return row.empty() ? 0 : row[0];
}

std::string Region::names() const
{
	std::string names;

	for (const Slot &slot : slots)
		names += (names.empty() ? "" : " ") + std::string(slot.wrapper->name);
	return names;
}

} // namespace ferry
