/* SPDX-License-Identifier: Apache-2.0 */
/* The rules of advice. */
#include "analyses/sites/advice.h"

#include <stdlib.h>

#include "converter/trace/names.h"
#include "format/core/grow.h"

const char *const advice_words[ADVICE_KIND_COUNT] = {
    [ADVICE_PRETENURE] = "pretenure", [ADVICE_REUSE] = "reuse",
    [ADVICE_DUPLICATE] = "duplicate", [ADVICE_SCALAR] = "scalar",
    [ADVICE_PRESIZE] = "presize",
};

struct advising {
    struct advice_list *list;
    const struct site_lives *lives;
    const struct trace_names *names;
    const struct advice_options *options;
};

static bool advice_add(struct advising *advising, uint32_t site, enum advice_kind kind,
                       struct site_amount amount, bool is_bound)
{
    struct advice_list *list = advising->list;
    if (amount.bytes == 0 || amount.bytes < advising->options->least_bytes)
        return true;
    if (!STEP_MAKE_ROOM(list->items, list->capacity, list->count + 1))
        return false;
    list->items[list->count++] = (struct advice){.site = site,
                                                 .kind = kind,
                                                 .objects = amount.objects,
                                                 .bytes = amount.bytes,
                                                 .is_bound = is_bound};
    return true;
}

static bool is_share(uint64_t part, uint64_t whole)
{
    return whole > 0 && (double) part >= ADVICE_SHARE * (double) whole;
}

/* ---- objects that live long ---- */

/* Most of the site must be decided: objects of the last collections may still become old. */
static bool is_long_lived(const struct site_life *life)
{
    return life->old.objects >= ADVICE_OBJECTS_LEAST &&
           is_share(life->old.bytes, life->decided.bytes) &&
           2 * life->decided.bytes >= life->born.bytes;
}

/* ---- objects that live shortly: the first rule that holds ---- */

static uint64_t element_bytes(uint8_t type)
{
    switch (type) {
    case 'Z':
    case 'B':
        return 1;
    case 'C':
    case 'S':
        return 2;
    case 'J':
    case 'D':
        return 8;
    default:
        return 4;
    }
}

/* Only arrays of a constant, small length can be replaced. */
static bool can_be_scalar(const struct advising *advising, const struct site_life *life)
{
    struct step_bytes name = trace_class_of(advising->names, life->key.class_id)->name;
    if (name.length < 2 || name.data[0] != '[')
        return true;
    return life->last_size * life->born.objects == life->born.bytes &&
           life->last_size <= 24 + ADVICE_SCALAR_ELEMENTS * element_bytes(name.data[1]);
}

static bool is_never_stored(const struct advising *advising, const struct site_life *life)
{
    return advising->options->has_references && life->references.stored.objects == 0 &&
           life->born.objects >= ADVICE_OBJECTS_LEAST && can_be_scalar(advising, life);
}

static bool is_repeated(const struct site_life *life)
{
    return life->repeated.objects >= ADVICE_OBJECTS_LEAST &&
           is_share(life->repeated.objects, life->born.objects - 1);
}

static bool is_reusable(const struct site_lives *lives, const struct site_life *life)
{
    return life->reusable.objects >= ADVICE_OBJECTS_LEAST &&
           is_share(life->reusable.objects, life->reuse_decided) &&
           2 * life->references.longer < life->born.objects &&
           life->born.bytes >= ADVICE_POOLED_BYTES_LEAST * life->born.objects && lives->within > 0;
}

static bool advise_short_lived(struct advising *advising, uint32_t site)
{
    const struct site_life *life = &advising->lives->items[site];
    bool is_bound = life->bounds > 0;
    if (is_never_stored(advising, life))
        return advice_add(advising, site, ADVICE_SCALAR, life->born, false);
    if (is_repeated(life))
        return advice_add(advising, site, ADVICE_DUPLICATE, life->repeated, is_bound);
    if (is_reusable(advising->lives, life))
        return advice_add(advising, site, ADVICE_REUSE, life->reusable, is_bound);
    return true;
}

/* ---- arrays that grow ---- */

static bool is_growing(const struct site_references *references, const struct site_life *life)
{
    return 2 * references->grown_objects >= life->born.objects &&
           10 * references->shrinkings <= references->growths;
}

/* ---- all ---- */

static bool advise(struct advising *advising, uint32_t site)
{
    const struct site_life *life = &advising->lives->items[site];
    const struct site_references *references = &life->references;
    const struct site_amount replaced = {references->grown_objects, references->replaced_bytes};
    bool ok = true;
    if (life->born.objects == 0)
        return true;
    if (references->growths > 0 && is_growing(references, life))
        ok = advice_add(advising, site, ADVICE_PRESIZE, replaced, false);
    if (ok && is_long_lived(life))
        return advice_add(advising, site, ADVICE_PRETENURE, life->old, false);
    return ok && advise_short_lived(advising, site);
}

static int advice_compare(const void *left, const void *right)
{
    const struct advice *a = left, *b = right;
    if (a->bytes != b->bytes)
        return a->bytes < b->bytes ? 1 : -1;
    if (a->site != b->site)
        return a->site < b->site ? -1 : 1;
    return (int) a->kind - (int) b->kind;
}

bool advice_make(struct advice_list *list, const struct site_lives *lives,
                 const struct trace_names *names, const struct advice_options *options)
{
    *list = (struct advice_list){.count = 0};
    struct advising advising = {list, lives, names, options};
    for (size_t i = 0; i < lives->count; i++)
        if (!advise(&advising, (uint32_t) i))
            return false;
    if (list->count > 0)
        qsort(list->items, list->count, sizeof *list->items, advice_compare);
    return true;
}

void advice_reset(struct advice_list *list)
{
    free(list->items);
    *list = (struct advice_list){.count = 0};
}
