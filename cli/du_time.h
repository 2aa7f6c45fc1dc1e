/* SPDX-License-Identifier: MIT */
/* The times that ferry du prints. */
#ifndef DU_TIME_H
#define DU_TIME_H

#include "du_tree.h"

/** The format of STYLE, for du_print_time(): NULL if there is none. */
const char *du_time_format(const char *style);

/** Prints TIME.  Complains about one that has no year. */
void du_print_time(const char *format, const struct du_time *time);

#endif /* DU_TIME_H */
