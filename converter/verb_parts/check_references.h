/* SPDX-License-Identifier: Apache-2.0 */
/* Rule 9 of `steptrace check`: references are of objects that live. */
#ifndef CONVERTER_VERB_PARTS_CHECK_REFERENCES_H
#define CONVERTER_VERB_PARTS_CHECK_REFERENCES_H

#include "converter/statistics/check_rules.h"

/* Goes over the stores and snapshots of the trace `path`, if it is a STEP trace that has any. */
enum step_status check_references(const char *path, struct check_rules *rules,
                                  struct step_error *error);

#endif
