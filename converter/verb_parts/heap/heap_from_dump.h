/* SPDX-License-Identifier: Apache-2.0 */
/* steptrace heap of dumps that another program wrote. */
#ifndef CONVERTER_VERB_PARTS_HEAP_HEAP_FROM_DUMP_H
#define CONVERTER_VERB_PARTS_HEAP_HEAP_FROM_DUMP_H

#include "converter/verb_parts/heap/heap_asked.h"

/* As heap_from_trace().  INVALID: what dumps do not tell was asked for. */
enum step_status heap_from_dump(const struct heap_asked *asked, const char *path, size_t *failed);

#endif
