/* SPDX-License-Identifier: Apache-2.0 */
/* What the scanner keeps beside flex's own state. */
#ifndef DL_SCAN_STATE_H
#define DL_SCAN_STATE_H

#include "arena.h"

struct dl_scan {
    struct dl_arena *arena;
};

#endif
