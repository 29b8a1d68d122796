/* SPDX-License-Identifier: Apache-2.0 */
/* Internal to the Meta-TF layer: the private part of a writer. */
#ifndef FORMAT_METATF_METATF_WRITING_H
#define FORMAT_METATF_METATF_WRITING_H

#include "format/metatf/metatf_state.h"

struct metatf_writer_rest {
    struct metatf_writer_options options;
    char dtd_name[256];
    struct metatf_writing *sections; /* as in the DTD */
    struct metatf_writing run;       /* METATF_RECORDS: the only buffer */
    struct step_buffer body;         /* METATF_INDEX: the pieces, until the end */
    struct metatf_entry *entries;
    uint64_t entry_count;
    size_t entry_capacity;
    uint64_t offset; /* of the next piece, relative to the end of the header */
    uint64_t header_bytes;
    uint64_t records;
    uint32_t attempts; /* to fit the current record */
    bool is_closed;
    struct step_compressor *compressor;
    struct step_buffer packed;
    uint64_t *last;          /* for each field of the record */
    enum step_status status; /* the first error */
    struct step_error error;
};

/* ---- metatf_pieces.c ---- */

/* Returns the first error, and copies it to *error (may be NULL). */
enum step_status metatf_writer_status(const struct metatf_writer *writer, struct step_error *error);
void metatf_writer_no_memory(struct metatf_writer *writer);
/* Returns false if out of memory. */
bool metatf_grow_section(struct metatf_writing *writing, size_t extra);
void metatf_write_out(struct metatf_writer *writer, const void *data, size_t length);
/* Return the bytes of integers in header and index, and of an entry of the index. */
unsigned metatf_writer_int_bytes(const struct metatf_writer *writer);
size_t metatf_entry_bytes(const struct metatf_writer *writer);
void metatf_write_header(struct metatf_writer *writer, uint64_t sections, uint64_t start,
                         uint64_t records);
/* Writes the content of all sections as pieces of the file. */
void metatf_flush_pieces(struct metatf_writer *writer);
void metatf_write_dtd(struct metatf_writer *writer);
void metatf_write_index(struct metatf_writer *writer);

/* ---- metatf_record.c ---- */

/* Undoes the changes of the current record. */
void metatf_writer_roll_back(struct metatf_writer *writer);

#endif
