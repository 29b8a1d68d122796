/* SPDX-License-Identifier: Apache-2.0 */
/* Reporting of faults in a definition's text. */
#ifndef FORMAT_LANGUAGE_DL_FAULT_H
#define FORMAT_LANGUAGE_DL_FAULT_H

#include "format/language/dl_tree.h"

/* Maximum number of reported faults. */
#define DL_FAULT_LIMIT 100u

/* Reports a fault at a position of the whole text; the first also fills the caller's error. */
__attribute__((format(printf, 3, 4))) void dl_fault(struct dl_parse *parse, struct dl_place place,
                                                    const char *format, ...);

/* Reports a fault at a position of a file. */
void dl_fault_in(struct dl_parse *parse, const struct step_fault *fault);

/* Fills name, line and columns of a fault at a position of the whole text. */
void dl_locate(const struct dl_parse *parse, struct dl_place place, struct step_fault *fault);

/* Like dl_locate(), with the text of the line, for any expanded text called `name`. */
void dl_locate_in(const struct dl_expansion *expansion, const char *name, struct dl_place place,
                  struct step_fault *fault);

#endif
