/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the outermost frames of call stacks that the agent cut at its limit (option stack). */
#include "analyses/report/cut_stacks.h"

#include <stdlib.h>

#include "converter/containers/id_table.h"

/* A stack below the limit is whole: its outermost frame is where threads begin, also in stacks that
 * reach the limit exactly. */
enum { METHOD_BEGINS = 1 };

struct cut_search {
    const struct heap_sites *sites;
    uint64_t limit;
    uint32_t *outermost;     /* by site */
    uint32_t *depth;         /* by site */
    struct id_table methods; /* uint8_t: METHOD_BEGINS */
};

static void find_depths(struct cut_search *search)
{
    for (uint32_t i = 1; i < search->sites->count; i++) {
        uint32_t parent = search->sites->items[i].parent;
        search->depth[i] = search->depth[parent] + 1;
        search->outermost[i] = parent == 0 ? i : search->outermost[parent];
    }
}

/* Notes the beginnings of whole stacks, and marks those of the others. */
static bool read_stacks(struct cut_search *search, const struct heap_snapshot *snapshot,
                        bool *is_cut)
{
    for (size_t i = 0; i < snapshot->count; i++) {
        uint32_t site = snapshot->rows[i].key.site;
        uint32_t outermost = search->outermost[site];
        if (site == 0 || snapshot->rows[i].allocated.objects == 0)
            continue;
        if (search->depth[site] >= search->limit) {
            is_cut[outermost] = true;
            continue;
        }
        uint8_t *method = id_table_get(&search->methods, search->sites->items[outermost].method_id);
        if (method == NULL)
            return false;
        *method = METHOD_BEGINS;
    }
    return true;
}

static bool begins(const struct cut_search *search, uint32_t site)
{
    const uint8_t *known = id_table_find(&search->methods, search->sites->items[site].method_id);
    return known != NULL && *known == METHOD_BEGINS;
}

bool *cut_stacks_find(const struct heap_sites *sites, const struct heap_snapshot *snapshot,
                      uint64_t limit)
{
    struct cut_search search = {.sites = sites, .limit = limit};
    bool *is_cut = calloc(sites->count, sizeof *is_cut);
    search.outermost = calloc(sites->count, sizeof *search.outermost);
    search.depth = calloc(sites->count, sizeof *search.depth);
    id_table_init(&search.methods, sizeof(uint8_t));
    bool ok = is_cut != NULL && search.outermost != NULL && search.depth != NULL;
    if (ok && limit != 0) {
        find_depths(&search);
        ok = read_stacks(&search, snapshot, is_cut);
        for (uint32_t i = 1; i < sites->count; i++)
            is_cut[i] = is_cut[i] && !begins(&search, i);
    }
    id_table_reset(&search.methods);
    free(search.outermost);
    free(search.depth);
    if (!ok) {
        free(is_cut);
        return NULL;
    }
    return is_cut;
}
