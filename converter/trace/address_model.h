/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A model of a heap, which expects where an allocator will put the next object: where one of its
 * size class was freed last, or beside what was taken last of those that were, or behind the last
 * object that was put in fresh memory.  An address is then a small number, its rank among those
 * expected, and an object to be freed is named by its age (docs/formats/hatf.md, "The heap's
 * model").  Writer and reader run the same model.
 */
#ifndef CONVERTER_TRACE_ADDRESS_MODEL_H
#define CONVERTER_TRACE_ADDRESS_MODEL_H

#include "converter/base/object_table.h"
#include "steptrace/hatf.h"

struct address_model;

/* `reads`: ages are to be turned into addresses.  NULL: out of memory. */
struct address_model *address_model_create(bool reads);
void address_model_destroy(struct address_model *model);

/* What a record becomes: both 0 where it does not have them. */
struct address_place {
    uint64_t age;  /* of an object that is freed; of a realloc: 1 more, 0 for none */
    uint64_t rank; /* of a new address */
};

enum address_answer {
    HEAP_PLACED, /* the record is known by a place */
    HEAP_PLAIN,  /* it is not: its addresses are to be stored as they are */
    HEAP_IMPOSSIBLE /* (reading) the model has no such place: the trace is damaged */,
    HEAP_NO_MEMORY
};

/* Turns the addresses of a record into places; the model takes note of the record either way. */
enum address_answer address_model_place(struct address_model *model,
                                        const struct hatf_record *record,
                                        struct address_place *place);
/* Turns places into the record's addresses. */
enum address_answer address_model_find(struct address_model *model,
                                       const struct address_place *place,
                                       struct hatf_record *record);
/* Takes note of a record whose addresses were stored as they are. */
enum address_answer address_model_note(struct address_model *model,
                                       const struct hatf_record *record);

#endif
