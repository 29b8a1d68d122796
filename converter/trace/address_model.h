/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A model of a heap that predicts where an allocator places the next object: where an object of the
 * same size class was freed last, next to the free block that was reused last, or behind the last
 * object in fresh memory.  An address is encoded as its rank among the predictions (a small
 * number), and an object to be freed by its age (docs/formats/hatf.md, "The heap's model").  Writer
 * and reader run the same model.
 */
#ifndef CONVERTER_TRACE_ADDRESS_MODEL_H
#define CONVERTER_TRACE_ADDRESS_MODEL_H

#include "converter/containers/object_table.h"
#include "steptrace/hatf.h"

struct address_model;

/* Creates a model.  `reads`: it decodes, so it must map ages to addresses.  Returns NULL if out
 * of memory. */
struct address_model *address_model_create(bool reads);
void address_model_destroy(struct address_model *model);

/* The encoded form of a record; members that the record does not have are 0. */
struct address_place {
    uint64_t age;  /* age of the freed object; for a realloc: 1 + its age, 0: none */
    uint64_t rank; /* rank of the new address */
};

enum address_answer {
    HEAP_PLACED, /* the record is encoded as age and rank */
    HEAP_PLAIN,  /* the model cannot encode it: store its addresses */
    HEAP_IMPOSSIBLE /* (decoding) the model has no such place: the trace is damaged */,
    HEAP_NO_MEMORY
};

/* Encodes the addresses of a record.  Updates the model whether or not it can encode them. */
enum address_answer address_model_place(struct address_model *model,
                                        const struct hatf_record *record,
                                        struct address_place *place);
/* Decodes the record's addresses and updates the model. */
enum address_answer address_model_find(struct address_model *model,
                                       const struct address_place *place,
                                       struct hatf_record *record);
/* Updates the model with a record whose addresses are stored as they are. */
enum address_answer address_model_note(struct address_model *model,
                                       const struct hatf_record *record);

#endif
