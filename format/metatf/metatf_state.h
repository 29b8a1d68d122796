/* SPDX-License-Identifier: Apache-2.0 */
/* Internal to the Meta-TF layer: the state of a section, the header's layout, files and streams. */
#ifndef FORMAT_METATF_METATF_STATE_H
#define FORMAT_METATF_METATF_STATE_H

#include "format/core/bytes.h"
#include "format/core/compress.h"
#include "steptrace/metatf.h"
#include "steptrace/metatf_code.h"

/* ---- the file ---- */

#define METATF_MAGIC "\177MTF"
#define METATF_FIXED_BYTES 16u /* magic, class, byte order, DTD length, flags, pad */
#define METATF_FLAG_SEGMENTS 1u
#define METATF_DTD_SECTION 256u   /* comment records with the DTD */
#define METATF_INDEX_SECTION 257u /* the number of data records, then the index */
#define METATF_METHOD_SHIFT 16u   /* of the compression, above the section's number */

/* A piece of a section. */
struct metatf_entry {
    uint32_t number;
    uint32_t method; /* enum step_compression */
    uint64_t start;
    uint64_t size;
    bool is_cut; /* the file lacks a part of it */
};

struct metatf_file {
    struct metatf_input input;
    char name[256];
    struct metatf_file_about about;
    struct metatf_entry *entries;
    uint64_t entry_count;
    size_t entry_capacity;
    char *dtd_name;
    char *dtd_text;
};

/* Returns the bytes of numbers in header, index and metadata. */
static inline unsigned metatf_int_bytes(bool wide, bool short_ints)
{
    return wide && !short_ints ? 8 : 4;
}

static inline unsigned metatf_file_ints(const struct metatf_file *file)
{
    return metatf_int_bytes(file->about.wide, file->about.short_ints);
}

/* Reads `size` bytes, followed by 8 zero bytes. */
enum step_status metatf_file_read(const struct metatf_file *file, uint64_t offset, void *buffer,
                                  size_t size, struct step_error *error);

/* ---- the state ---- */

/* Sets the state that the DTD prescribes; the arrays have the section's counts. */
void metatf_states_init(const struct metatf_section *section, struct metatf_state *states,
                        uint64_t *cells);
/* Returns the index of the record with the tag, or UINT32_MAX. */
uint32_t metatf_record_by_tag(const struct metatf_section *section, uint64_t tag);
/* Returns how many values follow a metadata record's property: 0, 1 or 2. */
unsigned metatf_metadata_values(unsigned property);
/* Changes the state.  Returns NULL, or the reason why the metadata are not valid. */
const char *metatf_state_apply(const struct metatf_dtd *dtd, const struct metatf_section *section,
                               struct metatf_state *states, uint64_t *cells,
                               const struct metatf_metadata *metadata);
/* Returns an upper limit for a record's bytes in numbers, plus what loads and stores of whole words
 * access beyond. */
uint32_t metatf_record_need(const struct metatf_dtd *dtd);
/* Returns true if both describe the same traces. */
bool metatf_dtd_equal(const struct metatf_dtd *one, const struct metatf_dtd *other);

/* ---- streams ---- */

struct metatf_unpacker {
    struct step_decompressor *decompressor;
    struct step_buffer packed;
};

/* Positions the stream at the piece, which is followed by `padding` zeros. */
enum step_status metatf_stream_open(struct metatf_stream *stream, const struct metatf_file *file,
                                    const struct metatf_entry *entry,
                                    struct metatf_unpacker *unpacker, uint32_t padding,
                                    struct step_error *error);
/* Loads until `need` bytes are available from `*at`, or the piece ends.  `in_record`: the bytes
 * between stream->at and `*at` keep their address until metatf_stream_retire(). */
enum step_status metatf_stream_load(struct metatf_stream *stream, const struct metatf_file *file,
                                    const uint8_t **at, uint64_t need, uint32_t padding,
                                    bool in_record, struct step_error *error);
void metatf_stream_retire(struct metatf_stream *stream);
void metatf_stream_reset(struct metatf_stream *stream);
/* Returns the file offset of the byte at `at`; in a compressed piece, that of the piece. */
uint64_t metatf_stream_offset(const struct metatf_stream *stream, const uint8_t *at);

/* ---- a reader's rest ---- */

struct metatf_scratch {
    struct metatf_scratch *next;
    max_align_t memory[];
};

struct metatf_reader_rest {
    struct metatf_file *file;
    const struct metatf_dtd *dtd;
    struct metatf_reading *sections; /* as in the DTD */
    struct metatf_unpacker unpacker;
    struct metatf_scratch *scratch;
    enum step_status status; /* returned from now on, unless OK */
    enum step_status fault_status;
    struct step_error error;
    bool started;
    uint64_t other_count; /* records that are not data */
    /* used by metatf_reader_next() */
    struct metatf_value *values;
    size_t value_count;
    size_t value_capacity;
    uint64_t *last; /* for each field of the record */
};

#endif
