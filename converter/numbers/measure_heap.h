/* SPDX-License-Identifier: Apache-2.0 */
/* Adds a heap at a moment as a run of measures, for gates. */
#ifndef CONVERTER_NUMBERS_MEASURE_HEAP_H
#define CONVERTER_NUMBERS_MEASURE_HEAP_H

#include "converter/heap/heap_snapshot.h"
#include "converter/numbers/measure_names.h"

/* Adds the live amounts by class, site and thread.  Returns false if memory runs out. */
bool measure_heap(struct measures *measures, const struct heap_sites *sites,
                  const struct heap_snapshot *snapshot, enum measure_side side);

#endif
