/* SPDX-License-Identifier: Apache-2.0 */
/* What the scanner keeps beside flex's own state. */
#ifndef FORMAT_LANGUAGE_DL_SCAN_STATE_H
#define FORMAT_LANGUAGE_DL_SCAN_STATE_H

#include <setjmp.h>

#include "format/language/dl_tree.h"

struct dl_scan {
    struct step_arena *arena;
    struct dl_parse *parse;
    jmp_buf fatal; /* where flex goes when it cannot go on, instead of to exit() */
};

#endif
