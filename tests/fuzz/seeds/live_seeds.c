/* SPDX-License-Identifier: Apache-2.0 */
/*
 * live_seeds DIRECTORY
 *
 * Writes seeds of live files, which have each kind of raw record, of reference and of fact, and a
 * pair of a trace and a live file.  Fails if a kind of steptrace/live.h is in none of them, or a
 * kind of record that live files make is not in the trace that is recovered.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/core/bytes.h"
#include "format/io/memory_output.h"
#include "steptrace/hatf_trace.h"
#include "steptrace/java_trace.h"
#include "steptrace/live.h"
#include "steptrace/reader.h"

#define PAGE STEP_LIVE_PAGE
#define CHUNKS 4u
#define ROOM ((PAGE - sizeof(struct step_live_chunk)) / 8)

struct seed {
    uint8_t bytes[(1 + CHUNKS) * PAGE];
    uint64_t words[ROOM]; /* of the chunk that is being filled */
    size_t used, chunks;
    bool has[32], has_reference[16], has_fact[16];
};

static void fail(const char *what, unsigned number)
{
    fprintf(stderr, "live_seeds: %s %u\n", what, number);
    exit(1);
}

static void put(struct seed *seed, unsigned kind, uint64_t payload, const uint64_t *more,
                size_t count)
{
    if (seed->used + 1 + count > ROOM)
        fail("no room for kind", kind);
    seed->words[seed->used++] = payload << STEP_LIVE_KIND_BITS | kind;
    for (size_t i = 0; i < count; i++)
        seed->words[seed->used++] = more[i];
    seed->has[kind] = true;
}

#define PUT(seed, kind, payload, ...)                                                              \
    put(seed, kind, payload, (const uint64_t[]){0, __VA_ARGS__} + 1,                               \
        sizeof(const uint64_t[]){0, __VA_ARGS__} / 8 - 1)

/* Ends the chunk that is being filled. */
static void put_chunk(struct seed *seed, uint64_t stream, uint64_t order, uint64_t first_record)
{
    const struct step_live_chunk chunk = {.magic = STEP_LIVE_CHUNK_MAGIC,
                                          .size_bytes = PAGE,
                                          .state = STEP_LIVE_ACTIVE,
                                          .stream = stream,
                                          .order = order,
                                          .first_record = first_record,
                                          .thread = stream >= 2 ? 1 : 0,
                                          .used = seed->used * 8};
    uint8_t *page = seed->bytes + (1 + seed->chunks++) * PAGE;
    memcpy(page, &chunk, sizeof chunk);
    memcpy(page + sizeof chunk, seed->words, seed->used * 8);
    seed->used = 0;
}

static size_t put_header(struct seed *seed, uint64_t definition)
{
    const struct step_live_header header = {.magic = STEP_LIVE_MAGIC,
                                            .version = STEP_LIVE_VERSION,
                                            .page_bytes = PAGE,
                                            .clock_multiplier = 1,
                                            .resolution_ns = 1,
                                            .file_bytes = (1 + seed->chunks) * PAGE,
                                            .definition = definition,
                                            .waits_for = "a.B.c",
                                            .internals = "tan sight"};
    memcpy(seed->bytes, &header, sizeof header);
    return (1 + seed->chunks) * PAGE;
}

static uint64_t word(const char *text)
{
    uint64_t bytes = 0;
    memcpy(&bytes, text, strlen(text));
    return bytes;
}

/* ---- Java ---- */

static void put_method(struct seed *seed, uint64_t number, uint64_t modifiers, const char *name,
                       const char *descriptor)
{
    char both[16] = "";
    snprintf(both, sizeof both, "%s%s", name, descriptor);
    uint64_t texts[2];
    memcpy(texts, both, sizeof texts);
    PUT(seed, STEP_LIVE_DEFINE_METHOD, number, 1, modifiers,
        strlen(name) | (uint64_t) strlen(descriptor) << 32, texts[0], texts[1]);
    if (strlen(both) <= 8)
        seed->used--; /* one word of text */
}

static void put_fact(struct seed *seed, uint64_t ticks, enum step_live_fact fact,
                     const uint64_t *words, size_t count)
{
    uint64_t all[16] = {fact, count * 8};
    memcpy(all + 2, words, count * 8);
    put(seed, STEP_LIVE_FACT, ticks, all, 2 + count);
    seed->has_fact[fact] = true;
}

#define FACT(seed, ticks, fact, ...)                                                               \
    put_fact(seed, ticks, fact, (const uint64_t[]){__VA_ARGS__},                                   \
             sizeof(const uint64_t[]){__VA_ARGS__} / 8)

static void put_global(struct seed *seed)
{
    PUT(seed, STEP_LIVE_DEFINE_CLASS, 1, 0, 3, word("a/B"));
    PUT(seed, STEP_LIVE_DEFINE_CLASS, 2, 0, 2, word("[B"));
    PUT(seed, STEP_LIVE_DEFINE_THREAD, 1, 0, 4, word("main"));
    put_method(seed, 1, 1, "run", "()V");
    put_method(seed, 2, 1, "<init>", "()V");
    put_method(seed, 1, STEP_LIVE_IS_FIELD | 2, "next", "La/B;");
    put_method(seed, 1, STEP_LIVE_IS_PHASE_NAME, "warm", "");
    put_method(seed, 1, STEP_LIVE_IS_SOURCE, "B.java", "SMAP");
    put_method(seed, 1, STEP_LIVE_IS_LAYOUT, "IJ", "");
    PUT(seed, STEP_LIVE_DEFINE_FRAME, 1, UINT64_C(1) << 32, 10 | UINT64_C(3) << 32);
    PUT(seed, STEP_LIVE_VM_START, 1);
    PUT(seed, STEP_LIVE_VM_INIT, 2);
    PUT(seed, STEP_LIVE_CLASS_LOAD, 3, 1);
    PUT(seed, STEP_LIVE_CLASS_EXISTING, 4, 2);
    PUT(seed, STEP_LIVE_THREAD_EXISTING, 5, 1);
    PUT(seed, STEP_LIVE_THREAD_START, 6, 1);
    FACT(seed, 7, STEP_LIVE_NOT_PROBED, 3, 3 | UINT64_C(3) << 32, 3 | UINT64_C(4) << 32,
         word("a/Brun()"), word("Vslow"));
    FACT(seed, 8, STEP_LIVE_METHOD_COUNT, 1, 10, 1, 500, 400);
    FACT(seed, 9, STEP_LIVE_EDEN_CLASS, 1, 1, 20, 320);
    FACT(seed, 9, STEP_LIVE_EDEN_CLASS, 1, 0, 0, 80);
    FACT(seed, 9, STEP_LIVE_EDEN_SURVIVED, 1, 2, 20, 320, 3, 48);
    FACT(seed, 9, STEP_LIVE_EDEN_AGE, 1, 2, 15, 4, 64);
    FACT(seed, 9, STEP_LIVE_EDEN_WALK, 1, STEP_LIVE_EDEN_WALKED, 400, 320, 16, 1000);
    PUT(seed, STEP_LIVE_THREAD_END, 100, 1);
    PUT(seed, STEP_LIVE_VM_DEATH, 101);
    put_chunk(seed, STEP_LIVE_STREAM_GLOBAL, 0, 0);
}

static void put_frees(struct seed *seed)
{
    PUT(seed, STEP_LIVE_FREE_OBJECT, 11);
    PUT(seed, STEP_LIVE_FREE_OBJECT, 12 | UINT64_C(2) << STEP_LIVE_FREED_BITS);
    PUT(seed, STEP_LIVE_FREE_OBJECT, 3 | STEP_LIVE_IS_EARLIER);
    PUT(seed, STEP_LIVE_FREE_END, 60);
    FACT(seed, 61, STEP_LIVE_GIVEN_UP, 16, 1 << 20);
    put_chunk(seed, STEP_LIVE_STREAM_FREES, 0, 0);
}

static void put_references(struct seed *seed)
{
    for (unsigned kind = STEP_LIVE_FIELD_STORE; kind <= STEP_LIVE_SNAPSHOT_END; kind++) {
        uint64_t words[4] = {0};
        step_live_reference_words(words, (enum step_live_reference) kind,
                                  kind == STEP_LIVE_SNAPSHOT ? 1 : 11,
                                  kind == STEP_LIVE_SNAPSHOT ? STEP_LIVE_BY_COMMAND : 12, 1);
        words[3] = kind == STEP_LIVE_SNAPSHOT_END ? UINT64_C(1) << 40 : 1;
        bool is_long = kind == STEP_LIVE_RANGE_STORE || kind == STEP_LIVE_ROOT ||
                       kind == STEP_LIVE_SNAPSHOT_END;
        put(seed, STEP_LIVE_REFERENCE, 40 + kind, words + 1, is_long ? 3 : 2);
        seed->has_reference[kind] = true;
    }
}

static void put_thread(struct seed *seed)
{
    const uint64_t method = 1, constructor = 2, past = UINT64_C(1) << STEP_LIVE_METHOD_BITS;
    PUT(seed, STEP_LIVE_THREAD_SWITCH, 1);
    PUT(seed, STEP_LIVE_EXISTING, 10, step_live_alloc_word(2, 3, 24), 10);
    PUT(seed, STEP_LIVE_ALLOC, 11, step_live_alloc_word(1, 0, 16), 11);
    PUT(seed, STEP_LIVE_STACK, 1);
    PUT(seed, STEP_LIVE_ALLOC, 12, step_live_alloc_word(1, 0, 16), 12);
    PUT(seed, STEP_LIVE_ALLOC_NEXT, 13, step_live_alloc_word(2, 1, 32));
    FACT(seed, 14, STEP_LIVE_SAMPLED, step_live_alloc_word(1, 0, 16), 15, 4096);
    FACT(seed, 15, STEP_LIVE_PHASE, 1, UINT64_C(1) << 32);
    PUT(seed, STEP_LIVE_ENTRY, 16, method, 11);
    PUT(seed, STEP_LIVE_ENTRY_SHORT, past | method);
    PUT(seed, STEP_LIVE_EXIT_SHORT, past | method);
    PUT(seed, STEP_LIVE_ENTRY_SHORT, past | method);
    PUT(seed, STEP_LIVE_FRAME_POP_SHORT, past | method);
    PUT(seed, STEP_LIVE_ENTRY_NEW, 20, constructor);
    PUT(seed, STEP_LIVE_CONSTRUCTED, 16, 1);
    PUT(seed, STEP_LIVE_EXIT, 21, constructor);
    PUT(seed, STEP_LIVE_ENTRY_NEW_SHORT, past | constructor);
    PUT(seed, STEP_LIVE_UNWAITED, 0);
    PUT(seed, STEP_LIVE_FRAME_POP, 23, constructor);
    PUT(seed, STEP_LIVE_EXIT, 24, method);
    FACT(seed, 25, STEP_LIVE_PHASE, 1, STEP_LIVE_PHASE_ENDS | UINT64_C(1) << 32);
    put_references(seed);
    put_chunk(seed, 2, 0, 0);
}

static size_t make_java(struct seed *seed)
{
    put_global(seed);
    put_frees(seed);
    put_thread(seed);
    for (unsigned kind = 1; kind < STEP_LIVE_KIND_COUNT; kind++)
        if (!seed->has[kind])
            fail("no seed has kind", kind);
    for (unsigned kind = 1; kind <= STEP_LIVE_SNAPSHOT_END; kind++)
        if (!seed->has_reference[kind])
            fail("no seed has reference", kind);
    for (unsigned fact = 1; fact <= STEP_LIVE_EDEN_AGE; fact++)
        if (!seed->has_fact[fact])
            fail("no seed has fact", fact);
    return put_header(seed, STEP_LIVE_DEFINITION_JAVA);
}

/* ---- native programs ---- */

static uint64_t called(uint64_t value, enum step_live_heap_call call)
{
    return value | (uint64_t) call << STEP_LIVE_HEAP_CALL_SHIFT;
}

static size_t make_heap(struct seed *seed)
{
    PUT(seed, STEP_LIVE_HEAP_FRAME, 1, 0, 0x401000);
    PUT(seed, STEP_LIVE_HEAP_FRAME, 2, 1, 0x402000);
    put_chunk(seed, STEP_LIVE_STREAM_GLOBAL, 0, 0);
    PUT(seed, STEP_LIVE_THREAD_SWITCH, 1);
    PUT(seed, STEP_LIVE_HEAP_THREAD_CREATE, 1, 1);
    PUT(seed, STEP_LIVE_HEAP_CREATE, 2, 1);
    PUT(seed, STEP_LIVE_STACK, 2);
    for (unsigned call = 0; call < STEP_LIVE_CALL_COUNT; call++)
        PUT(seed, STEP_LIVE_HEAP_ALLOC, 3 + call,
            called(24 + call, (enum step_live_heap_call) call) |
                (uint64_t) (call % 8) << STEP_LIVE_HEAP_ALIGNMENT_SHIFT,
            4096 + 64 * call);
    PUT(seed, STEP_LIVE_HEAP_IN, 1);
    PUT(seed, STEP_LIVE_HEAP_ALLOC, 30, called(8, STEP_LIVE_CALL_HEAP_MALLOC), 8192);
    PUT(seed, STEP_LIVE_HEAP_REALLOC, 31, 48, 4096, 4096);
    PUT(seed, STEP_LIVE_HEAP_REALLOC, 32, 480, 4096, 16384);
    PUT(seed, STEP_LIVE_HEAP_REALLOC, 33, 0, 16384, 0);
    PUT(seed, STEP_LIVE_HEAP_REALLOC, 34, 8, 0, 16384);
    PUT(seed, STEP_LIVE_HEAP_FREE, 35, called(16384, STEP_LIVE_CALL_DELETE));
    PUT(seed, STEP_LIVE_HEAP_DESTROY, 36, 1);
    PUT(seed, STEP_LIVE_HEAP_THREAD_DESTROY, 37, 1);
    put_chunk(seed, 2, 0, 0);
    static const unsigned others[] = {STEP_LIVE_THREAD_SWITCH, STEP_LIVE_HEAP_IN,
                                      STEP_LIVE_HEAP_FRAME, STEP_LIVE_STACK};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        if (!seed->has[others[i]])
            fail("no seed has kind of native programs", others[i]);
    for (unsigned kind = STEP_LIVE_HEAP_THREAD_CREATE; kind < STEP_LIVE_HEAP_KIND_COUNT; kind++)
        if (!seed->has[kind])
            fail("no seed has kind of native programs", kind);
    return put_header(seed, STEP_LIVE_DEFINITION_HEAP);
}

/* ---- what they become ---- */

static void write_file(const char *directory, const char *name, const void *start,
                       size_t start_length, const void *bytes, size_t length)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    FILE *file = fopen(path, "wb");
    if (file == NULL || fwrite(start, 1, start_length, file) != start_length ||
        fwrite(bytes, 1, length, file) != length || fclose(file) != 0) {
        perror(path);
        exit(1);
    }
}

static void open_writer(const struct step_definition *definition, struct step_buffer *bytes,
                        struct step_writer **writer)
{
    struct step_writer_options options;
    step_writer_options_init(&options);
    options.definition = definition;
    options.output = step_memory_output(bytes);
    options.compression = STEP_COMPRESSION_NONE;
    if (step_writer_create(&options, writer, NULL) != STEP_STATUS_OK)
        fail("no writer", 0);
}

/* Marks which records of the definition are in the trace. */
static void look_into(const struct step_buffer *bytes, bool *found)
{
    struct step_reader *reader;
    struct step_block *block = NULL;
    struct step_record_view view;
    struct step_error error;
    if (step_reader_open_memory(bytes->data, bytes->length, "seed", &reader, &error) !=
        STEP_STATUS_OK)
        fail("no trace", 0);
    for (uint32_t i = 0; i < step_reader_borrow_definition(reader)->record_count; i++)
        found[i] = step_reader_dictionary_entry(reader, i, 1) != NULL;
    for (size_t i = 0; i < step_reader_block_count(reader); i++)
        if (step_reader_load(reader, i, NULL, &block, &error) == STEP_STATUS_OK)
            while (step_block_next(block, &view) == STEP_STATUS_OK)
                found[view.record] = true;
    step_block_destroy(block);
    step_reader_destroy(reader);
}

/* Recovers a live file beside an empty trace, and writes both as a seed of fuzz_live_pair. */
static void recover(const char *directory, const char *folder, const struct seed *seed,
                    size_t length, const struct step_definition *definition, bool *found)
{
    struct step_buffer bytes = {0}, empty = {0};
    struct step_writer *writer;
    struct step_error error = {.offset = STEP_NO_OFFSET};
    char path[4096], pair[64];
    snprintf(path, sizeof path, "%s/%s/every_kind", directory, folder);
    open_writer(definition, &bytes, &writer);
    if (step_live_recover(path, writer, NULL, &error) != STEP_STATUS_OK ||
        step_writer_close(writer, &error) != STEP_STATUS_OK) {
        fprintf(stderr, "live_seeds: %s: %s\n", path, error.message);
        exit(1);
    }
    step_writer_destroy(writer);
    look_into(&bytes, found);
    open_writer(definition, &empty, &writer);
    step_writer_flush(writer);
    uint8_t start[4] = {(uint8_t) empty.length, (uint8_t) (empty.length >> 8),
                        (uint8_t) (empty.length >> 16), 0};
    struct step_buffer both = {0};
    if (!step_buffer_append(&both, empty.data, empty.length) ||
        !step_buffer_append(&both, seed->bytes, length))
        fail("no memory", 0);
    snprintf(pair, sizeof pair, "live_pair/every_kind_of_%s", folder);
    write_file(directory, pair, start, sizeof start, both.data, both.length);
    step_writer_destroy(writer);
    step_buffer_reset(&both);
    step_buffer_reset(&empty);
    step_buffer_reset(&bytes);
}

/* Records that no live file makes: those that others extend, and those of converters. */
static bool is_never(const char *name)
{
    static const char *const names[] = {
        "java.Event",         "java.MethodEvent", "java.ReferenceStore",
        "java.Phase",         "java.ObjectDeath", "java.ObjectFreeUnknown",
        "heap.Event",         "heap.ThreadEvent", "heap.HeapEvent",
        "heap.Sized",         "heap.Realloc",     "heap.Comment",
        "heap.NextAttributes"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return strstr(name, "ByRank") != NULL || strstr(name, "ByAge") != NULL;
}

static void require_all(const struct step_definition *definition, const bool *found)
{
    unsigned missing = 0;
    for (uint32_t i = 0; i < definition->record_count; i++)
        if (!found[i] && !is_never(definition->records[i].name)) {
            fprintf(stderr, "live_seeds: no seed has %s\n", definition->records[i].name);
            missing++;
        }
    if (missing != 0)
        fail("kinds of records are missing:", missing);
}

int main(int argc, char **argv)
{
    static struct seed java, heap;
    static bool found[256];
    if (argc != 2) {
        fprintf(stderr, "usage: live_seeds DIRECTORY\n");
        return 2;
    }
    size_t length = make_java(&java);
    write_file(argv[1], "live/every_kind", NULL, 0, java.bytes, length);
    recover(argv[1], "live", &java, length, &step_java_trace_definition, found);
    require_all(&step_java_trace_definition, found);
    memset(found, 0, sizeof found);
    length = make_heap(&heap);
    write_file(argv[1], "live_allocs/every_kind", NULL, 0, heap.bytes, length);
    recover(argv[1], "live_allocs", &heap, length, &step_hatf_trace_definition, found);
    require_all(&step_hatf_trace_definition, found);
    return 0;
}
