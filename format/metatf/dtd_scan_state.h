/* SPDX-License-Identifier: Apache-2.0 */
/* What the scanner keeps beside flex's own state. */
#ifndef FORMAT_METATF_DTD_SCAN_STATE_H
#define FORMAT_METATF_DTD_SCAN_STATE_H

#include <setjmp.h>

#include "format/core/arena.h"

struct dtd_scan {
    struct step_arena *arena;
    jmp_buf fatal; /* where flex goes when it cannot go on, instead of to exit() */
};

#endif
