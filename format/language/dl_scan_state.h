/* SPDX-License-Identifier: Apache-2.0 */
/* State of the scanner besides flex's own. */
#ifndef FORMAT_LANGUAGE_DL_SCAN_STATE_H
#define FORMAT_LANGUAGE_DL_SCAN_STATE_H

#include <setjmp.h>

#include "format/language/dl_tree.h"

struct dl_scan {
    struct step_arena *arena;
    struct dl_parse *parse;
    jmp_buf fatal; /* target of flex's fatal errors, instead of exit() */
};

#endif
