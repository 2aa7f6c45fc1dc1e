/* SPDX-License-Identifier: MIT */
/* The name that somebody meant who misspelt it. */
#ifndef SUGGEST_H
#define SUGGEST_H

/** " (did you mean 'NAME'?)" for the one of NAMES, with blanks between, that is like WORD; or "".
 */
const char *did_you_mean(const char *word, const char *names);

#endif /* SUGGEST_H */
