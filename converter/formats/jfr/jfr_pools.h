/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The constant pools of one chunk: what its events name by number.  A constant gets into its pool
 * when it is first used in the chunk, with those that it uses itself.
 */
#ifndef CONVERTER_FORMATS_JFR_JFR_POOLS_H
#define CONVERTER_FORMATS_JFR_JFR_POOLS_H

#include "converter/formats/jfr/jfr_types.h"
#include "converter/heap/heap_sites.h"

enum jfr_when { JFR_BEFORE_GC = 1, JFR_AFTER_GC = 2 };

struct jfr_pools {
    const struct heap_sites *sites; /* borrowed */
    uint32_t chunk;                 /* number of the chunk, from 1 */
    struct byte_output pools[JFR_POOL_COUNT];
    size_t counts[JFR_POOL_COUNT];
    /* uint32_t by id: the last chunk whose pool has it. */
    struct id_table classes, loaders, methods, stacks, threads;
    bool failed; /* out of memory */
};

void jfr_pools_init(struct jfr_pools *pools, const struct heap_sites *sites);
void jfr_pools_reset(struct jfr_pools *pools);
/* Begins another chunk, with empty pools. */
void jfr_pools_begin(struct jfr_pools *pools);
size_t jfr_pools_size(const struct jfr_pools *pools);
/* Writes the event that has the pools. */
void jfr_pools_put(struct jfr_pools *pools, struct byte_output *out);

/* Return the number by which an event names it; 0: null. */
uint64_t jfr_class(struct jfr_pools *pools, uint32_t class_id);
uint64_t jfr_method(struct jfr_pools *pools, uint32_t method_id);
uint64_t jfr_stack(struct jfr_pools *pools, uint32_t site);
uint64_t jfr_thread(struct jfr_pools *pools, uint32_t thread_id);

#endif
