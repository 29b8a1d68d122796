/* SPDX-License-Identifier: Apache-2.0 */
/* Opens a Meta-TF file: reads its header, its index, and the embedded DTD. */
#include <inttypes.h>
#include <stdlib.h>

#include "format/core/grow.h"
#include "format/core/step_no_memory.h"
#include "format/metatf/metatf_state.h"

#define TEXT_LIMIT ((size_t) 1 << 20)
#define CHUNK 64u /* entries of the index read at a time */

static enum step_status metatf_file_fail(const struct metatf_file *file, enum step_status status,
                                         uint64_t offset, const char *message,
                                         struct step_error *error)
{
    return step_error_set(error, status, file->name, offset, "%s", message);
}

enum step_status metatf_file_read(const struct metatf_file *file, uint64_t offset, void *buffer,
                                  size_t size, struct step_error *error)
{
    if (offset > file->input.size || size > file->input.size - offset)
        return metatf_file_fail(file, STEP_STATUS_CUT, offset, "the file ends too early", error);
    memset((uint8_t *) buffer + size, 0, 8);
    return size == 0 ? STEP_STATUS_OK
                     : file->input.read(file->input.user, offset, buffer, size, error);
}

static uint64_t load_int(const struct metatf_file *file, const uint8_t *at, unsigned i)
{
    unsigned bytes = metatf_file_ints(file);
    return step_number_load(at + i * bytes, bytes, file->about.big_endian);
}

/* ---- the index ---- */

static bool metatf_file_add_entry(struct metatf_file *file, uint64_t number, uint64_t start,
                                  uint64_t size)
{
    if (!STEP_MAKE_ROOM(file->entries, file->entry_capacity, file->entry_count + 1))
        return false;
    struct metatf_entry *entry = &file->entries[file->entry_count++];
    *entry = (struct metatf_entry){.number = (uint32_t) (number & 0xffff),
                                   .method = (uint32_t) (number >> METATF_METHOD_SHIFT & 0xffff),
                                   .start = start,
                                   .size = size};
    uint64_t room = start <= file->input.size ? file->input.size - start : 0;
    if (size > room) {
        entry->size = room;
        entry->is_cut = true;
    }
    return true;
}

/* Reads the `count` entries at `offset`. */
static enum step_status read_entries(struct metatf_file *file, uint64_t offset, uint64_t count,
                                     struct step_error *error)
{
    uint8_t bytes[CHUNK * 24 + 8];
    unsigned size = 3 * metatf_file_ints(file);
    if (count > (file->input.size - offset) / size)
        return metatf_file_fail(file, STEP_STATUS_CUT, offset,
                                "the index ends past the end of the file", error);
    while (count > 0) {
        uint64_t now = count < CHUNK ? count : CHUNK;
        enum step_status status = metatf_file_read(file, offset, bytes, (size_t) now * size, error);
        if (status != STEP_STATUS_OK)
            return status;
        for (uint64_t i = 0; i < now; i++) {
            const uint8_t *at = bytes + i * size;
            if (load_int(file, at, 0) >> 32 != 0)
                return metatf_file_fail(file, STEP_STATUS_CORRUPT, offset + i * size,
                                        "the index names an impossible section", error);
            if (!metatf_file_add_entry(file, load_int(file, at, 0), load_int(file, at, 1),
                                       load_int(file, at, 2)))
                return step_no_memory(error, file->name);
        }
        offset += now * size;
        count -= now;
    }
    return STEP_STATUS_OK;
}

/* Reads the index at the end of the file.  Returns false if there is none. */
static bool read_last_index(struct metatf_file *file, uint64_t start)
{
    uint8_t bytes[24 + 8];
    unsigned ints = metatf_file_ints(file);
    uint64_t size = 3 * ints;
    uint64_t end = file->input.size;
    if (end - start < 2 * size ||
        metatf_file_read(file, end - size, bytes, size, NULL) != STEP_STATUS_OK)
        return false;
    uint64_t index = load_int(file, bytes, 1);
    uint64_t length = load_int(file, bytes, 2);
    if (load_int(file, bytes, 0) != METATF_INDEX_SECTION || index < start + size ||
        index > end - size || length != end - size - index || length < ints ||
        (length - ints) % size != 0 ||
        metatf_file_read(file, index, bytes, ints, NULL) != STEP_STATUS_OK)
        return false;
    file->about.records = load_int(file, bytes, 0);
    if (read_entries(file, index + ints, (length - ints) / size, NULL) == STEP_STATUS_OK)
        return true;
    file->entry_count = 0;
    return false;
}

/* Reads a file without its end, piece by piece as far as possible. */
static enum step_status metatf_file_walk(struct metatf_file *file, uint64_t at,
                                         struct step_error *error)
{
    uint8_t bytes[24 + 8];
    uint64_t size = 3 * metatf_file_ints(file);
    while (file->input.size - at >= size) {
        enum step_status status = metatf_file_read(file, at, bytes, size, error);
        if (status != STEP_STATUS_OK)
            return status;
        uint64_t number = load_int(file, bytes, 0);
        if (number >> 32 != 0 || load_int(file, bytes, 1) != at + size)
            return metatf_file_fail(file, STEP_STATUS_CORRUPT, at, "this is no piece of a section",
                                    error);
        if ((number & 0xffff) == METATF_INDEX_SECTION)
            return STEP_STATUS_OK;
        if (!metatf_file_add_entry(file, number, at + size, load_int(file, bytes, 2)))
            return step_no_memory(error, file->name);
        at += size + file->entries[file->entry_count - 1].size;
    }
    return STEP_STATUS_OK;
}

/* ---- the DTD in the file ---- */

static enum step_status metatf_file_read_text(struct metatf_file *file,
                                              const struct metatf_entry *entry,
                                              struct step_error *error)
{
    if (file->dtd_text != NULL)
        return STEP_STATUS_OK;
    size_t size = (size_t) entry->size;
    uint8_t *bytes = entry->size <= TEXT_LIMIT && entry->method == 0 ? malloc(size + 8) : NULL;
    if (bytes == NULL)
        return metatf_file_fail(file, STEP_STATUS_LIMIT, entry->start,
                                "the DTD in the file is too long", error);
    enum step_status status = metatf_file_read(file, entry->start, bytes, size, error);
    size_t length = 0;
    for (size_t at = 0; at < size && status == STEP_STATUS_OK;) {
        size_t text = size - at >= 2 ? bytes[at + 1] : 0;
        if (bytes[at] != 1 || size - at < 2 + text) {
            status = metatf_file_fail(file, STEP_STATUS_CORRUPT, entry->start + at,
                                      "the DTD in the file is damaged", error);
            break;
        }
        memmove(bytes + length, bytes + at + 2, text);
        length += text;
        at += 2 + text;
    }
    if (status != STEP_STATUS_OK) {
        free(bytes);
        return status;
    }
    bytes[length] = '\0';
    file->dtd_text = (char *) bytes;
    file->about.dtd_text = file->dtd_text;
    file->about.dtd_length = length;
    return STEP_STATUS_OK;
}

/* ---- the header ---- */

static enum step_status read_fixed(struct metatf_file *file, uint8_t *flags, uint8_t *name_length,
                                   struct step_error *error)
{
    uint8_t bytes[METATF_FIXED_BYTES + 8];
    if (file->input.size < METATF_FIXED_BYTES)
        return metatf_file_fail(file, STEP_STATUS_FORMAT, 0, "not a Meta-TF file", error);
    enum step_status status = metatf_file_read(file, 0, bytes, METATF_FIXED_BYTES, error);
    if (status != STEP_STATUS_OK)
        return status;
    if (memcmp(bytes, METATF_MAGIC, 4) != 0)
        return metatf_file_fail(file, STEP_STATUS_FORMAT, 0, "not a Meta-TF file", error);
    if (bytes[4] < 1 || bytes[4] > 2)
        return metatf_file_fail(file, STEP_STATUS_CORRUPT, 4, "the class is not 1 or 2", error);
    if (bytes[5] < 1 || bytes[5] > 2)
        return metatf_file_fail(file, STEP_STATUS_CORRUPT, 5, "the byte order is not 1 or 2",
                                error);
    if (bytes[7] > METATF_FLAG_SEGMENTS)
        return metatf_file_fail(file, STEP_STATUS_UNSUPPORTED, 7, "unknown flags", error);
    file->about.wide = bytes[4] == 2;
    file->about.big_endian = bytes[5] == 2;
    *name_length = bytes[6];
    *flags = bytes[7];
    return STEP_STATUS_OK;
}

static enum step_status read_name(struct metatf_file *file, uint64_t offset, uint8_t length,
                                  struct step_error *error)
{
    file->dtd_name = malloc((size_t) length + 8);
    if (file->dtd_name == NULL)
        return step_no_memory(error, file->name);
    file->about.dtd_name = file->dtd_name;
    return metatf_file_read(file, offset, file->dtd_name, length, error);
}

/* A class 2 header states the width of addresses; in the paper its ints may have 4 bytes, ours have
 * 8.  A header that is plausible with one size rarely is with the other. */
static bool is_plausible(const struct metatf_file *file, unsigned ints, uint8_t name_length)
{
    uint8_t bytes[24 + 8];
    uint64_t header = METATF_FIXED_BYTES + 3 * ints + name_length;
    if (header > file->input.size ||
        metatf_file_read(file, METATF_FIXED_BYTES, bytes, 3 * ints, NULL) != STEP_STATUS_OK)
        return false;
    uint64_t sections = step_number_load(bytes, ints, file->about.big_endian);
    uint64_t start = step_number_load(bytes + ints, ints, file->about.big_endian);
    return sections <= (file->input.size - header) / (3 * ints) &&
           start >= header + sections * 3 * ints && start <= file->input.size;
}

static int compare_starts(const void *left, const void *right)
{
    const struct metatf_entry *const *one = left, *const *other = right;
    if ((*one)->start != (*other)->start)
        return (*one)->start < (*other)->start ? -1 : 1;
    return (*one)->size < (*other)->size ? -1 : (*one)->size > (*other)->size;
}

/* `first` is the lowest valid offset of a section. */
static enum step_status check_places(struct metatf_file *file, uint64_t first,
                                     struct step_error *error)
{
    const struct metatf_entry **sorted = calloc((size_t) file->entry_count + 1, sizeof *sorted);
    enum step_status status = sorted != NULL ? STEP_STATUS_OK : step_no_memory(error, file->name);
    for (uint64_t i = 0; sorted != NULL && i < file->entry_count; i++)
        sorted[i] = &file->entries[i];
    if (sorted != NULL)
        qsort(sorted, (size_t) file->entry_count, sizeof *sorted, compare_starts);
    for (uint64_t i = 0; status == STEP_STATUS_OK && i < file->entry_count; i++) {
        const struct metatf_entry *entry = sorted[i];
        if (entry->size > 0 && entry->start < first)
            status = metatf_file_fail(file, STEP_STATUS_CORRUPT, entry->start,
                                      "a section begins inside what stands before it", error);
        if (entry->size > 0)
            first = entry->start + entry->size;
    }
    free(sorted);
    return status;
}

static bool has_only_the_dtd(const struct metatf_file *file)
{
    for (uint64_t i = 0; i < file->entry_count; i++)
        if (file->entries[i].number != METATF_DTD_SECTION)
            return false;
    return true;
}

static enum step_status read_sections(struct metatf_file *file, uint8_t flags, uint64_t offset,
                                      uint64_t count, uint64_t start, struct step_error *error)
{
    file->about.whole = true;
    if (start > file->input.size)
        return metatf_file_fail(file, STEP_STATUS_CUT, offset,
                                "the data start past the end of the file", error);
    if ((flags & METATF_FLAG_SEGMENTS) != 0) {
        file->about.layout = METATF_SEGMENTS;
        file->about.whole = read_last_index(file, start);
        return file->about.whole ? check_places(file, offset, error)
                                 : metatf_file_walk(file, start, error);
    }
    file->about.layout = METATF_INDEX;
    enum step_status status = read_entries(file, offset, count, error);
    if (status == STEP_STATUS_OK && has_only_the_dtd(file)) {
        file->about.layout = METATF_RECORDS;
        if (!metatf_file_add_entry(file, 0, start, file->input.size - start))
            status = step_no_memory(error, file->name);
    } else if (status == STEP_STATUS_OK) {
        status = check_places(file, offset + count * 3 * metatf_file_ints(file), error);
    }
    return status;
}

static enum step_status metatf_file_read_all(struct metatf_file *file, struct step_error *error)
{
    uint8_t bytes[24 + 8], flags = 0, name_length = 0;
    enum step_status status = read_fixed(file, &flags, &name_length, error);
    if (status == STEP_STATUS_OK && file->about.wide && flags == 0)
        file->about.short_ints =
            !is_plausible(file, 8, name_length) && is_plausible(file, 4, name_length);
    unsigned size = 3 * metatf_file_ints(file);
    if (status == STEP_STATUS_OK)
        status = metatf_file_read(file, METATF_FIXED_BYTES, bytes, size, error);
    if (status == STEP_STATUS_OK)
        status = read_name(file, METATF_FIXED_BYTES + size, name_length, error);
    if (status != STEP_STATUS_OK)
        return status;
    file->about.records = load_int(file, bytes, 2);
    status = read_sections(file, flags, METATF_FIXED_BYTES + size + name_length,
                           load_int(file, bytes, 0), load_int(file, bytes, 1), error);
    for (uint64_t i = 0; i < file->entry_count && status == STEP_STATUS_OK; i++)
        if (file->entries[i].number == METATF_DTD_SECTION)
            status = metatf_file_read_text(file, &file->entries[i], error);
    file->about.segments = file->entry_count;
    return status;
}

enum step_status metatf_file_open(const struct metatf_input *input, const char *name,
                                  struct metatf_file **out, struct step_error *error)
{
    struct metatf_file *file = calloc(1, sizeof *file);
    *out = NULL;
    if (file == NULL)
        return step_no_memory(error, name);
    file->input = *input;
    if (name != NULL)
        memcpy(file->name, name, strnlen(name, sizeof file->name - 1));
    enum step_status status = metatf_file_read_all(file, error);
    if (status != STEP_STATUS_OK) {
        metatf_file_close(file);
        return status;
    }
    *out = file;
    return STEP_STATUS_OK;
}

const struct metatf_file_about *metatf_file_about(const struct metatf_file *file)
{
    return &file->about;
}

void metatf_file_close(struct metatf_file *file)
{
    if (file == NULL)
        return;
    free(file->entries);
    free(file->dtd_name);
    free(file->dtd_text);
    free(file);
}
