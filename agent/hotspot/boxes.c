/* SPDX-License-Identifier: Apache-2.0 */
/* Writes a flag of the JVM, one byte. The kernel writes it, so that an address which cannot be
 * written is an answer and no fault. */
#include "agent/hotspot/boxes.h"

#include <stdbool.h>

#include "agent/base/internals.h"
#include "agent/hotspot/peek.h"
#include "agent/hotspot/vm_structs.h"

static uintptr_t changed; /* the flag's address while it is not as it was; 0: it is as it was */

static bool flag_is_written(uintptr_t flag, unsigned char value)
{
    struct iovec here = {&value, sizeof value}, there = {(void *) flag, sizeof value};
    unsigned char read = 0;
    return syscall(SYS_process_vm_writev, getpid(), &here, 1ul, &there, 1ul, 0ul) ==
               (long) sizeof value &&
           peek(flag, &read, sizeof read) && read == value;
}

void boxes_keep(void)
{
    if (!internal_is_allowed(INTERNAL_BOXES) || changed != 0)
        return;
    uintptr_t flag = (uintptr_t) vm_flag("EliminateAutoBox");
    unsigned char value = 0;
    const char *refused = NULL;
    if (flag == 0)
        refused = "the JVM has no such flag";
    else if (!peek(flag, &value, sizeof value) || value > 1)
        refused = "the JVM's flag is not a byte of 0 or 1";
    else if (value == 1 && !flag_is_written(flag, 0))
        refused = "the JVM's flag cannot be written";
    if (refused == NULL && value == 1)
        changed = flag;
    internal_settled(INTERNAL_BOXES, refused);
}

bool boxes_may_stay(void)
{
    return changed == 0 || internal_is_allowed(INTERNAL_BOXES);
}

void boxes_stay(void)
{
    if (internal_is_allowed(INTERNAL_BOXES))
        internal_settled(INTERNAL_BOXES,
                         changed != 0 ? NULL : "classes keep probes of a trace without it");
}

void boxes_let_go(void)
{
    if (changed != 0)
        flag_is_written(changed, 1);
    changed = 0;
}
