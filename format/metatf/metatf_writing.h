/* SPDX-License-Identifier: Apache-2.0 */
/* Inside the Meta-TF layer: a writer's rest. */
#ifndef FORMAT_METATF_METATF_WRITING_H
#define FORMAT_METATF_METATF_WRITING_H

#include "format/metatf/metatf_state.h"

struct metatf_writer_rest {
    struct metatf_writer_options options;
    char dtd_name[256];
    struct metatf_writing *sections; /* as in the DTD */
    struct metatf_writing run;       /* METATF_RECORDS: the one buffer */
    struct metatf_writing body;      /* METATF_INDEX: the pieces until the end */
    struct metatf_entry *entries;
    uint64_t entry_count;
    uint64_t entry_capacity;
    uint64_t offset; /* of the next piece, from the first byte after the header */
    uint64_t header_bytes;
    uint64_t records;
    uint32_t attempts; /* to fit the record that is being put */
    bool is_closed;
    struct step_compressor *compressor;
    struct step_buffer packed;
    uint64_t *last;          /* of each field of the record */
    enum step_status status; /* the first error */
    struct step_error error;
};

/* Takes back what the record changed that is being put. */
void metatf_writer_roll_back(struct metatf_writer *writer);

#endif
