/* SPDX-License-Identifier: Apache-2.0 */
/* What a dead process left in its live file, put into a writer.  The file is read, not mapped, and
 * nothing in it is trusted. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "format/core/grow.h"
#include "format/core/no_memory.h"
#include "format/live/live_allocs.h"
#include "format/live/live_decoder.h"
#include "format/live/live_schema.h"
#include "steptrace/live.h"

#define CHUNK_LIMIT (UINT32_C(1) << 26)

/* A chunk that holds records: where it lies and where it stands in its stream. */
struct found_chunk {
    uint64_t offset;
    uint64_t stream;
    uint64_t order;
    uint64_t first_record;
    uint64_t thread;
    uint64_t used;
};

struct live_file {
    const char *path;
    int descriptor;
    uint64_t size;
    struct step_live_header header;
    struct found_chunk *chunks;
    size_t count;
    size_t capacity;
    struct step_error *error;
};

static bool read_at(struct live_file *file, uint64_t offset, void *out, size_t length)
{
    size_t done = 0;
    while (done < length) {
        ssize_t got =
            pread(file->descriptor, (char *) out + done, length - done, (off_t) (offset + done));
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return false;
        done += (size_t) got;
    }
    return true;
}

static enum step_status open_file(struct live_file *file)
{
    file->descriptor = open(file->path, O_RDONLY | O_CLOEXEC);
    if (file->descriptor < 0)
        return step_error_set(file->error, errno == ENOENT ? STEP_STATUS_NOT_FOUND : STEP_STATUS_IO,
                              file->path, STEP_NO_OFFSET, "%s", strerror(errno));
    struct stat status;
    if (fstat(file->descriptor, &status) != 0)
        return step_error_set(file->error, STEP_STATUS_IO, file->path, STEP_NO_OFFSET, "%s",
                              strerror(errno));
    file->size = (uint64_t) status.st_size;
    if (!read_at(file, 0, &file->header, sizeof file->header) ||
        memcmp(file->header.magic, STEP_LIVE_MAGIC, sizeof file->header.magic) != 0)
        return step_error_set(file->error, STEP_STATUS_FORMAT, file->path, 0,
                              "not a StepTrace live file");
    if (file->header.version != STEP_LIVE_VERSION || file->header.page_bytes != STEP_LIVE_PAGE)
        return step_error_set(file->error, STEP_STATUS_UNSUPPORTED, file->path, 8,
                              "live file version %u is not supported", file->header.version);
    return STEP_STATUS_OK;
}

/* The traced process holds a POSIX record lock on the header for as long as it runs. */
static enum step_status check_owner_is_gone(struct live_file *file)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 0, .l_len = 1};
    if (fcntl(file->descriptor, F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK)
        return step_error_set(file->error, STEP_STATUS_BUSY, file->path, STEP_NO_OFFSET,
                              "process %d is still writing it", (int) lock.l_pid);
    return STEP_STATUS_OK;
}

bool step_live_is_written(const char *path)
{
    struct live_file file = {.path = path, .descriptor = -1};
    bool is = open_file(&file) == STEP_STATUS_OK && check_owner_is_gone(&file) == STEP_STATUS_BUSY;
    if (file.descriptor >= 0)
        close(file.descriptor);
    return is;
}

static enum step_status note_chunk(struct live_file *file, uint64_t offset,
                                   const struct step_live_chunk *chunk)
{
    if (file->count == file->capacity) {
        struct found_chunk *grown =
            step_grown(file->chunks, &file->capacity, file->capacity + 1, sizeof *grown);
        if (grown == NULL)
            return step_error_set(file->error, STEP_STATUS_NO_MEMORY, file->path, offset,
                                  "out of memory");
        file->chunks = grown;
    }
    file->chunks[file->count++] = (struct found_chunk){
        offset, chunk->stream, chunk->order, chunk->first_record, chunk->thread, chunk->used};
    return STEP_STATUS_OK;
}

/* A chunk header that makes no sense ends its page; the next is looked for page by page. */
static enum step_status find_chunks(struct live_file *file)
{
    uint64_t offset = STEP_LIVE_PAGE;
    while (offset + sizeof(struct step_live_chunk) <= file->size) {
        struct step_live_chunk chunk;
        if (!read_at(file, offset, &chunk, sizeof chunk))
            break;
        bool good = chunk.magic == STEP_LIVE_CHUNK_MAGIC && chunk.size_bytes >= STEP_LIVE_PAGE &&
                    chunk.size_bytes <= CHUNK_LIMIT && chunk.size_bytes % STEP_LIVE_PAGE == 0;
        if (good && chunk.state != STEP_LIVE_FREE && chunk.used != 0 && chunk.used % 8 == 0 &&
            chunk.used <= chunk.size_bytes - sizeof chunk) {
            enum step_status status = note_chunk(file, offset, &chunk);
            if (status != STEP_STATUS_OK)
                return status;
        }
        offset += good ? chunk.size_bytes : STEP_LIVE_PAGE;
    }
    return STEP_STATUS_OK;
}

/* The global stream first (its definitions are used by the others), the frees last (a batch that
 * was cut takes the latest time of all). */
static int stream_rank(uint64_t stream)
{
    return stream == STEP_LIVE_STREAM_GLOBAL ? 0 : stream == STEP_LIVE_STREAM_FREES ? 2 : 1;
}

static int compare_chunks(const void *left, const void *right)
{
    const struct found_chunk *a = left, *b = right;
    if (stream_rank(a->stream) != stream_rank(b->stream))
        return stream_rank(a->stream) - stream_rank(b->stream);
    if (a->stream != b->stream)
        return a->stream < b->stream ? -1 : 1;
    return a->order < b->order ? -1 : a->order > b->order;
}

/* The decoder of the file's definition; the other is NULL. */
struct decoders {
    struct live_decoder *java;
    struct live_allocs_decoder *heap;
};

static enum step_status check_definition(struct live_file *file, const struct step_writer *writer)
{
    if (live_schema_fits(file->header.definition, step_writer_borrow_definition(writer)))
        return STEP_STATUS_OK;
    return step_error_set(file->error, STEP_STATUS_UNSUPPORTED, file->path,
                          offsetof(struct step_live_header, definition),
                          "the trace beside it does not have the records of a %s program",
                          file->header.definition == STEP_LIVE_DEFINITION_HEAP ? "native" : "Java");
}

static bool create_decoders(const struct live_file *file, struct step_writer *writer,
                            struct decoders *decoders)
{
    *decoders = (struct decoders){NULL, NULL};
    if (file->header.definition == STEP_LIVE_DEFINITION_HEAP)
        decoders->heap = live_allocs_decoder_create(&file->header, writer);
    else
        decoders->java = live_decoder_create(&file->header, writer);
    return decoders->heap != NULL || decoders->java != NULL;
}

static enum step_status decode_words(const struct decoders *decoders,
                                     const struct found_chunk *chunk, const uint64_t *words,
                                     size_t *consumed, struct step_error *error)
{
    size_t count = (size_t) chunk->used / sizeof *words;
    return decoders->heap != NULL
               ? live_allocs_decoder_words(decoders->heap, chunk->stream, words, count, consumed,
                                           error)
               : live_decoder_words(decoders->java, chunk->stream, words, count, consumed, error);
}

static enum step_status decode_chunk(struct live_file *file, const struct decoders *decoders,
                                     const struct found_chunk *chunk)
{
    uint64_t *words = malloc((size_t) chunk->used);
    if (words == NULL)
        return step_error_set(file->error, STEP_STATUS_NO_MEMORY, file->path, chunk->offset,
                              "out of memory");
    enum step_status status =
        decoders->heap != NULL
            ? live_allocs_decoder_begin(decoders->heap, chunk->stream, chunk->first_record,
                                        chunk->thread)
            : live_decoder_begin(decoders->java, chunk->stream, chunk->first_record, chunk->thread);
    size_t consumed = 0;
    if (status == STEP_STATUS_OK &&
        read_at(file, chunk->offset + sizeof(struct step_live_chunk), words, (size_t) chunk->used))
        status = decode_words(decoders, chunk, words, &consumed, file->error);
    free(words);
    if (status != STEP_STATUS_OK && file->error != NULL) {
        file->error->offset =
            chunk->offset + sizeof(struct step_live_chunk) + consumed * sizeof(uint64_t);
        snprintf(file->error->file, sizeof file->error->file, "%s", file->path);
    }
    return status;
}

/* Decodes every chunk that can be; the first damage is what the caller hears of. */
static enum step_status decode_chunks(struct live_file *file, struct step_writer *writer)
{
    struct decoders decoders;
    if (!create_decoders(file, writer, &decoders))
        return step_no_memory(file->error, file->path);
    enum step_status first = STEP_STATUS_OK;
    for (size_t i = 0; i < file->count; i++) {
        enum step_status status = decode_chunk(file, &decoders, &file->chunks[i]);
        if (first == STEP_STATUS_OK)
            first = status;
        if (status != STEP_STATUS_OK && status != STEP_STATUS_CORRUPT)
            break;
        file->error = first == STEP_STATUS_OK ? file->error : NULL;
    }
    enum step_status status = STEP_STATUS_OK;
    if (decoders.java != NULL)
        status = live_decoder_finish(decoders.java, file->header.free_stamp);
    live_decoder_destroy(decoders.java);
    live_allocs_decoder_destroy(decoders.heap);
    return first != STEP_STATUS_OK ? first : status;
}

enum step_status step_live_recover(const char *path, struct step_writer *writer,
                                   struct step_live_report *report, struct step_error *error)
{
    struct live_file file = {.path = path, .descriptor = -1, .error = error};
    enum step_status status = open_file(&file);
    if (status == STEP_STATUS_OK)
        status = check_owner_is_gone(&file);
    if (status == STEP_STATUS_OK)
        status = check_definition(&file, writer);
    if (status == STEP_STATUS_OK)
        status = find_chunks(&file);
    if (status == STEP_STATUS_OK) {
        if (file.count > 1)
            qsort(file.chunks, file.count, sizeof *file.chunks, compare_chunks);
        status = decode_chunks(&file, writer);
    }
    if (report != NULL) {
        *report = (struct step_live_report){.dropped = file.header.dropped};
        memcpy(report->internals, file.header.internals, sizeof report->internals - 1);
    }
    free(file.chunks);
    if (file.descriptor >= 0)
        close(file.descriptor);
    return status;
}
