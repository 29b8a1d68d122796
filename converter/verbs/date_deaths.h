/* SPDX-License-Identifier: Apache-2.0 */
/* Writes a trace with exact deaths, for a verb that reads it. */
#ifndef CONVERTER_VERBS_DATE_DEATHS_H
#define CONVERTER_VERBS_DATE_DEATHS_H

#include "steptrace/status.h"

struct dated_spool {
    char path[256];
    int descriptor; /* the caller closes it if it is not -1 */
};

/* Writes it into an unnamed file.  A trace that has exact deaths already is used in place.  Reports
 * errors.  Returns CORRUPT if the input was damaged. */
enum step_status date_deaths_spooled(const char *path, struct dated_spool *spool);

#endif
