/* SPDX-License-Identifier: MIT */
/*
 * Messages of ferry du, in the words of GNU du: scripts read them.  They begin with "du: ", also
 * because `alias du='ferry du'` is how the command is used.
 */
#ifndef DU_MESSAGES_H
#define DU_MESSAGES_H

/** Prints "du: " and the message on standard error. */
void du_complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

/** Points to --help after a message about the command line.  Returns the exit status. */
int du_see_help(void);

/** NAME in quotes, as a shell would read it again.  Kept. */
const char *du_quoted(const char *name);

/** The same, without quotes where a shell needs none.  Kept. */
const char *du_quoted_if_needed(const char *name);

#endif /* DU_MESSAGES_H */
