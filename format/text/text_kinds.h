/* SPDX-License-Identifier: Apache-2.0 */
/* Kinds of lines in the text format, with the letters of their fields. */
#ifndef FORMAT_TEXT_TEXT_KINDS_H
#define FORMAT_TEXT_TEXT_KINDS_H

#include "steptrace/text.h"

static const struct {
    char name[3];
    const char *fields;
} text_kinds[STEP_TEXT_KIND_COUNT] = {
#define KIND_ROW(name, fields) {#name, fields},
    STEP_TEXT_KIND_LIST(KIND_ROW)
#undef KIND_ROW
};

#endif
