/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Encodes columns to bytes and back, and the description of the coding in the file.
 *
 * Encoding is transforms, then the form, then compression; decoding undoes them in the opposite
 * order.  The description is untrusted like all bytes of a file.  Numbers that this library does
 * not know are no damage: a later version may have written them.  They are noted (note_unknown())
 * and only the records that use the column are given up.
 */
#include "format/codec/column.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/codec/strategies/packed_strings.h"

enum { FORM_BYTES = 0 };

void step_scratch_reset(struct step_scratch *scratch)
{
    free(scratch->work);
    step_buffer_reset(&scratch->raw);
    *scratch = (struct step_scratch){0};
}

bool step_scratch_reserve(struct step_scratch *scratch, size_t count)
{
    if (count <= scratch->work_capacity)
        return true;
    if (count > SIZE_MAX / sizeof *scratch->work)
        return false;
    uint64_t *work = malloc(count * sizeof *work);
    if (work == NULL)
        return false;
    free(scratch->work);
    scratch->work = work;
    scratch->work_capacity = count;
    return true;
}

/* The first transform reads the caller's values, the others work in place.  So the values
 * themselves stay as they are, and the next candidate can be tried on them. */
enum step_status step_chain_forward(const struct step_chain *chain,
                                    const struct step_series *series, const uint64_t *values,
                                    size_t count, struct step_scratch *scratch)
{
    scratch->result = values;
    if (chain->length == 0)
        return STEP_STATUS_OK;
    if (!step_scratch_reserve(scratch, count))
        return STEP_STATUS_NO_MEMORY;
    for (size_t i = 0; i < chain->length; i++) {
        const struct step_chain_link *link = &chain->links[i];
        enum step_status status = link->transform->forward(
            link->parameters, series, i == 0 ? values : scratch->work, scratch->work, count);
        if (status != STEP_STATUS_OK)
            return status;
    }
    scratch->result = scratch->work;
    return STEP_STATUS_OK;
}

/* Forms of which each byte holds several values, or a rank: the compressor then only looks for long
 * matches, as short ones are chance (compress.h). */
static bool is_dense(const struct step_chain *chain)
{
    return chain->form == &step_form_runs || chain->form == &step_form_ranked ||
           (chain->form == &step_form_packed && chain->form_parameter < 8);
}

static enum step_status column_pack(const uint8_t *raw, size_t length, bool dense,
                                    struct step_compressor *compressor, struct step_buffer *out,
                                    struct step_coding *coding)
{
    size_t before = out->length;
    enum step_compression method;
    enum step_status status = step_compress(compressor, dense, raw, length, out, &method);
    coding->method = method;
    coding->raw_length = length;
    coding->stored_length = out->length - before;
    return status;
}

enum step_status step_column_write(const struct step_chain *chain, size_t count,
                                   struct step_compressor *compressor, struct step_scratch *scratch,
                                   struct step_buffer *out, struct step_coding *coding)
{
    *coding = (struct step_coding){.chain = *chain};
    scratch->raw.length = 0;
    if (!step_buffer_reserve(&scratch->raw,
                             (size_t) chain->form->bound(chain->form_parameter, count)))
        return STEP_STATUS_NO_MEMORY;
    if (count > 0)
        scratch->raw.length =
            chain->form->encode(chain->form_parameter, scratch->result, count, scratch->raw.data);
    if (scratch->raw.length == STEP_FORM_NO_MEMORY)
        return STEP_STATUS_NO_MEMORY;
    return column_pack(scratch->raw.data, scratch->raw.length, is_dense(chain), compressor, out,
                       coding);
}

enum step_status step_column_write_bytes(const uint8_t *bytes, size_t length,
                                         struct step_compressor *compressor,
                                         struct step_buffer *out, struct step_coding *coding)
{
    *coding = (struct step_coding){0};
    return column_pack(bytes, length, false, compressor, out, coding);
}

/* Returns the bytes before compression: `stored` itself, or scratch->raw.  The caller has compared
 * raw_length with the form's bound, so a few bytes of a hostile file cannot ask for much memory. */
static enum step_status column_expand(const struct step_coding *coding, const uint8_t *stored,
                                      struct step_decompressor *decompressor,
                                      struct step_scratch *scratch, const uint8_t **raw)
{
    size_t length = (size_t) coding->raw_length;
    if (coding->method == STEP_COMPRESSION_NONE) {
        *raw = stored;
        return coding->stored_length == coding->raw_length ? STEP_STATUS_OK : STEP_STATUS_CORRUPT;
    }
    scratch->raw.length = 0;
    if (!step_buffer_reserve(&scratch->raw, length + 1))
        return STEP_STATUS_NO_MEMORY;
    *raw = scratch->raw.data;
    return step_decompress(decompressor, coding->method, stored, (size_t) coding->stored_length,
                           scratch->raw.data, length);
}

/* Each step is checked against what the one before it may give: the raw length against the form's
 * bound, the decompressed length, the form's bytes and then its values, which the transforms take
 * in any case, as each inverse is defined for all numbers or says CORRUPT.  So a damaged column is
 * found here or gives wrong values, but never reads or writes beyond its buffers. */
enum step_status step_column_read(const struct step_coding *coding, const uint8_t *stored,
                                  const struct step_series *series, uint64_t *values, size_t count,
                                  struct step_decompressor *decompressor,
                                  struct step_scratch *scratch)
{
    const struct step_chain *chain = &coding->chain;
    if (coding->unknown != NULL)
        return STEP_STATUS_UNSUPPORTED;
    if (chain->form == NULL ||
        coding->raw_length > chain->form->bound(chain->form_parameter, count))
        return STEP_STATUS_CORRUPT;
    if (count == 0)
        return coding->raw_length == 0 ? STEP_STATUS_OK : STEP_STATUS_CORRUPT;
    const uint8_t *raw;
    enum step_status status = column_expand(coding, stored, decompressor, scratch, &raw);
    if (status != STEP_STATUS_OK)
        return status;
    if (!chain->form->decode(chain->form_parameter, raw, (size_t) coding->raw_length, values,
                             count))
        return STEP_STATUS_CORRUPT;
    for (size_t i = chain->length; i-- > 0;) {
        const struct step_chain_link *link = &chain->links[i];
        if (link->transform->series != STEP_SERIES_NONE && series == NULL)
            return STEP_STATUS_CORRUPT;
        status = link->transform->inverse(link->parameters, series, values, count);
        if (status != STEP_STATUS_OK)
            return status;
    }
    return STEP_STATUS_OK;
}

static bool append_numbers(struct step_buffer *out, uint64_t id, const uint64_t *parameters,
                           size_t count)
{
    bool ok = step_buffer_append_varint(out, id) && step_buffer_append_varint(out, count);
    for (size_t i = 0; ok && i < count; i++)
        ok = step_buffer_append_varint(out, parameters[i]);
    return ok;
}

/* Later transforms carry their name as a parameter, eight characters in one number, the first in
 * the lowest byte.  A reader that does not know the number can then say what it lacks, and two
 * developments in which one number stands for two transforms are refused instead of decoded to
 * nonsense (is_valid()). */
static uint64_t pack_name(const char *name)
{
    uint64_t packed = 0;
    for (unsigned i = 0; i < STEP_TRANSFORM_NAME && name[i] != '\0'; i++)
        packed |= (uint64_t) (uint8_t) name[i] << (8 * i);
    return packed;
}

static bool append_transform(struct step_buffer *out, uint64_t id, const char *name,
                             const uint64_t *parameters, size_t count)
{
    uint64_t numbers[STEP_TRANSFORM_PARAMETERS + 1];
    memcpy(numbers, parameters, count * sizeof *parameters);
    if (id >= STEP_TRANSFORM_NAMED)
        numbers[count++] = pack_name(name);
    return append_numbers(out, id, numbers, count);
}

static const char strings_name[] = "strings";

static bool append_bytes(const struct step_coding *coding, struct step_buffer *out)
{
    uint64_t flags = coding->strings;
    bool ok = step_buffer_append_varint(out, flags != 0);
    if (flags != 0)
        ok = ok && append_transform(out, STEP_TRANSFORM_STRINGS, strings_name, &flags, 1);
    return ok && append_numbers(out, FORM_BYTES, NULL, 0);
}

static bool append_chain(const struct step_chain *chain, struct step_buffer *out)
{
    bool ok = step_buffer_append_varint(out, chain->length);
    for (size_t i = 0; ok && i < chain->length; i++) {
        const struct step_transform *transform = chain->links[i].transform;
        ok = append_transform(out, transform->id, transform->name, chain->links[i].parameters,
                              transform->parameter_count);
    }
    return ok && append_numbers(out, chain->form->id, &chain->form_parameter,
                                chain->form->parameter_count);
}

bool step_coding_append(const struct step_coding *coding, struct step_buffer *out)
{
    bool ok =
        coding->chain.form != NULL ? append_chain(&coding->chain, out) : append_bytes(coding, out);
    return ok && step_buffer_append_varint(out, coding->method) &&
           step_buffer_append_varint(out, coding->raw_length) &&
           step_buffer_append_varint(out, coding->stored_length);
}

/* Parses a number and its parameters; parameters beyond `room` are skipped.  Each parameter is a
 * byte at least, so a count above the bytes that are left is damage, and ends the loop before it
 * begins. */
static bool parse_numbers(struct step_cursor *cursor, uint64_t *id, uint64_t *parameters,
                          size_t room, uint64_t *count)
{
    if (!step_cursor_varint(cursor, id) || !step_cursor_varint(cursor, count) ||
        *count > step_cursor_left(cursor))
        return false;
    for (uint64_t i = 0; i < *count; i++) {
        uint64_t value;
        if (!step_cursor_varint(cursor, &value))
            return false;
        if (i < room)
            parameters[i] = value;
    }
    return true;
}

/* The last parameter of an unknown transform or form is its name.  Characters that cannot be part
 * of a name are dropped. */
static void note_unknown(struct step_coding *coding, const char *what, uint64_t number,
                         const uint64_t *parameters, uint64_t count)
{
    if (coding->unknown != NULL)
        return;
    coding->unknown = what;
    coding->unknown_number = number;
    uint64_t packed = count >= 1 && count <= STEP_TRANSFORM_PARAMETERS ? parameters[count - 1] : 0;
    for (unsigned i = 0; i < STEP_TRANSFORM_NAME; i++, packed >>= 8) {
        char c = (char) (packed & 0x7f);
        bool good = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
        if (!good || (packed & 0x80) != 0)
            break;
        coding->unknown_name[i] = c;
    }
}

void step_coding_print_unknown(const struct step_coding *coding, char *out, size_t room)
{
    bool named = coding->unknown_name[0] != '\0';
    snprintf(out, room, "%s %" PRIu64 "%s%s%s", coding->unknown, coding->unknown_number,
             named ? " (" : "", named ? coding->unknown_name : "", named ? ")" : "");
}

/* Parses the transform of byte strings, which cannot be combined with others. */
static bool parse_strings(struct step_coding *coding, const struct step_chain_link *link,
                          uint64_t count)
{
    uint64_t flags = link->parameters[0];
    bool good = count == 2 && link->parameters[1] == pack_name(strings_name) && flags >= 1 &&
                flags <= (STEP_STRINGS_NUMBERED | STEP_STRINGS_SHARED) && coding->strings == 0;
    coding->strings = (unsigned) flags;
    return good;
}

/* A transform of a known number must have exactly its parameters, and for the later ones its
 * name: what has the number but not the name is another transform that somebody else gave that
 * number to. */
static bool is_valid(const struct step_chain_link *link, uint64_t count)
{
    const struct step_transform *row = link->transform;
    bool named = row->id >= STEP_TRANSFORM_NAMED;
    return count == row->parameter_count + named &&
           (!named || link->parameters[row->parameter_count] == pack_name(row->name)) &&
           (row->valid == NULL || row->valid(link->parameters));
}

static bool parse_link(struct step_cursor *cursor, struct step_coding *coding)
{
    struct step_chain_link link = {0};
    uint64_t id;
    uint64_t count;
    if (!parse_numbers(cursor, &id, link.parameters, STEP_TRANSFORM_PARAMETERS, &count))
        return false;
    if (id == STEP_TRANSFORM_STRINGS)
        return parse_strings(coding, &link, count);
    link.transform = step_transform_find(id);
    if (link.transform == NULL) {
        note_unknown(coding, "transform", id, link.parameters, count);
        return true;
    }
    if (!is_valid(&link, count))
        return false;
    if (coding->chain.length == STEP_CHAIN_MAX)
        note_unknown(coding, "chain of transforms, length", STEP_CHAIN_MAX + 1, NULL, 0);
    else
        coding->chain.links[coding->chain.length++] = link;
    return true;
}

static bool parse_form(struct step_cursor *cursor, struct step_coding *coding)
{
    struct step_chain *chain = &coding->chain;
    uint64_t numbers[STEP_TRANSFORM_PARAMETERS] = {0};
    uint64_t id;
    uint64_t count;
    if (!parse_numbers(cursor, &id, numbers, STEP_TRANSFORM_PARAMETERS, &count))
        return false;
    chain->form_parameter = numbers[0];
    if (id == FORM_BYTES)
        return count == 0 && chain->length == 0;
    if (coding->strings != 0)
        return false;
    chain->form = step_form_find(id);
    if (chain->form == NULL) {
        note_unknown(coding, "form", id, numbers, count);
        return true;
    }
    return count == chain->form->parameter_count &&
           (chain->form->valid == NULL || chain->form->valid(chain->form_parameter));
}

bool step_coding_parse(struct step_cursor *cursor, struct step_coding *coding)
{
    *coding = (struct step_coding){0};
    uint64_t links;
    if (!step_cursor_varint(cursor, &links) || links > step_cursor_left(cursor))
        return false;
    for (uint64_t i = 0; i < links; i++)
        if (!parse_link(cursor, coding))
            return false;
    if (!parse_form(cursor, coding) || !step_cursor_varint(cursor, &coding->method) ||
        !step_cursor_varint(cursor, &coding->raw_length) ||
        !step_cursor_varint(cursor, &coding->stored_length))
        return false;
    if (!step_compression_known(coding->method))
        note_unknown(coding, "compression", coding->method, NULL, 0);
    return true;
}
