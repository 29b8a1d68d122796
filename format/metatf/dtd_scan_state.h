/* SPDX-License-Identifier: Apache-2.0 */
/* State of the scanner besides flex's own. */
#ifndef FORMAT_METATF_DTD_SCAN_STATE_H
#define FORMAT_METATF_DTD_SCAN_STATE_H

#include <setjmp.h>

#include "format/core/arena.h"

struct dtd_scan {
    struct step_arena *arena;
    jmp_buf fatal; /* target of flex's fatal errors, instead of exit() */
};

#endif
