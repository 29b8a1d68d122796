/* SPDX-License-Identifier: Apache-2.0 */
/* One method's Code attribute. */
#ifndef AGENT_REWRITER_METHOD_REWRITE_H
#define AGENT_REWRITER_METHOD_REWRITE_H

#include "agent/rewriter/method_code.h"

struct method_head {
    uint16_t access;
    struct class_text name, descriptor;
};

/* Rewrites the Code attribute that starts at `attribute` (its length is checked): where the method
 * gets a probe, the output gets everything of the class up to it and the new attribute. */
bool method_rewrite(struct class_file *file, const struct method_head *head,
                    const uint8_t *attribute);

#endif
