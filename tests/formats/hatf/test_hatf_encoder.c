/* SPDX-License-Identifier: Apache-2.0 */
/* The encodings: what they write reads back, none is larger than the one below it, and the cheapest
 * metadata are as cheap as those that a search through all finds. */
#include <CUnit/Basic.h>
#include <stdio.h>

#include "format/core/compress.h"
#include "format/hatf/hatf_state.h"
#include "tests/formats/hatf/hatf_sample.h"
#include "tests/unit/run_suite.h"

static size_t encode_for(const struct hatf_record *records, size_t count,
                         enum hatf_encoding encoding, enum step_compression packed_by,
                         struct sample_output *out)
{
    const struct step_output output = {out, sample_write};
    struct hatf_writer *writer = NULL;
    struct hatf_encoder *encoder = NULL;
    struct step_error error = {.message = ""};
    CU_ASSERT_EQUAL_FATAL(hatf_writer_create(&output, &writer, &error), STEP_STATUS_OK);
    CU_ASSERT_EQUAL_FATAL(
        packed_by == STEP_COMPRESSION_NONE
            ? hatf_encoder_create(writer, encoding, &encoder, &error)
            : hatf_encoder_create_for(writer, encoding, packed_by, &encoder, &error),
        STEP_STATUS_OK);
    for (size_t i = 0; i < count; i++)
        CU_ASSERT_EQUAL_FATAL(hatf_encoder_put(encoder, &records[i], &error), STEP_STATUS_OK);
    CU_ASSERT_EQUAL_FATAL(hatf_encoder_flush(encoder, &error), STEP_STATUS_OK);
    CU_ASSERT_EQUAL_FATAL(hatf_writer_close(writer, &error), STEP_STATUS_OK);
    hatf_encoder_destroy(encoder);
    hatf_writer_destroy(writer);
    return out->length;
}

static size_t encode(const struct hatf_record *records, size_t count, enum hatf_encoding encoding,
                     struct sample_output *out)
{
    return encode_for(records, count, encoding, STEP_COMPRESSION_NONE, out);
}

static size_t packed_bytes(const struct sample_output *out)
{
    struct step_compressor *compressor;
    struct step_buffer packed = {0};
    enum step_compression method;
    CU_ASSERT_EQUAL_FATAL(step_compressor_create(STEP_COMPRESSION_ZLIB, 0, &compressor),
                          STEP_STATUS_OK);
    step_compress(compressor, false, out->data, out->length, &packed, &method);
    size_t length = packed.length;
    step_buffer_reset(&packed);
    step_compressor_destroy(compressor);
    return length;
}

static bool reads_back(const struct sample_output *out, const struct hatf_record *records,
                       size_t count)
{
    struct hatf_reader *reader = NULL;
    struct hatf_record record;
    size_t at = 0;
    bool same = true;
    enum step_status status;
    hatf_reader_create_memory(out->data, out->length, "memory", &reader, NULL);
    while ((status = hatf_reader_next(reader, &record, NULL)) == STEP_STATUS_OK)
        if (record.tag != HATF_METADATA)
            same = same && at < count && sample_same(&record, &records[at++]);
    hatf_reader_destroy(reader);
    return same && at == count && status == STEP_STATUS_END;
}

static void check_all(const struct hatf_record *records, size_t count, uint64_t seed)
{
    size_t sizes[HATF_ENCODING_COUNT];
    for (unsigned i = 0; i < HATF_ENCODING_COUNT; i++) {
        struct sample_output out = {NULL, 0, 0};
        sizes[i] = encode(records, count, (enum hatf_encoding) i, &out);
        if (!reads_back(&out, records, count)) {
            printf("seed %llu, %s\n", (unsigned long long) seed,
                   hatf_encoding_name((enum hatf_encoding) i));
            CU_FAIL("other records");
        }
        free(out.data);
        if (sizes[i] > sizes[HATF_ENCODING_NAIVE])
            printf("seed %llu, %s: %zu bytes, naive %zu\n", (unsigned long long) seed,
                   hatf_encoding_name((enum hatf_encoding) i), sizes[i], sizes[0]);
        CU_ASSERT_TRUE(sizes[i] <= sizes[HATF_ENCODING_NAIVE]);
    }
    CU_ASSERT_TRUE(sizes[HATF_ENCODING_OPTIMAL] <= sizes[HATF_ENCODING_BEST]);
}

static void test_round_trips(void)
{
    enum { COUNT = 3000 };
    struct hatf_record *records = malloc(COUNT * sizeof *records);
    for (uint64_t seed = 1; seed <= 60; seed++) {
        sample_fill(records, COUNT, seed);
        check_all(records, seed <= 20 ? (size_t) seed * 3 : COUNT, seed);
    }
    free(records);
}

/* Windows end where they may, in runs, in strides, in the middle of attributes. */
static void test_windows(void)
{
    enum { COUNT = 100000 };
    struct hatf_record *records = malloc(COUNT * sizeof *records);
    for (uint64_t seed = 101; seed <= 103; seed++) {
        sample_fill(records, COUNT, seed);
        check_all(records, COUNT, seed);
    }
    for (size_t i = 0; i < COUNT; i++)
        records[i] = (struct hatf_record){.tag = HATF_ALLOC, .size = 24, .address = 4096 + 32 * i};
    struct sample_output out = {NULL, 0, 0};
    CU_ASSERT_EQUAL(encode(records, COUNT, HATF_ENCODING_BEST, &out), COUNT + 12 + 20);
    CU_ASSERT_TRUE(reads_back(&out, records, COUNT));
    free(out.data);
    free(records);
}

/* Of one window nothing that was tried compresses better; of more than one the records are right.
 */
static void test_for_a_packer(void)
{
    enum { COUNT = 40000 };
    struct hatf_record *records = malloc(COUNT * sizeof *records);
    static const enum hatf_encoding others[] = {HATF_ENCODING_NAIVE, HATF_ENCODING_BEST,
                                                HATF_ENCODING_OPTIMAL};
    for (uint64_t seed = 201; seed <= 206; seed++) {
        size_t count = seed < 206 ? 2000 : COUNT;
        struct sample_output out = {NULL, 0, 0};
        sample_fill(records, COUNT, seed);
        encode_for(records, count, HATF_ENCODING_OPTIMAL, STEP_COMPRESSION_ZLIB, &out);
        CU_ASSERT_TRUE(reads_back(&out, records, count));
        for (size_t i = 0; i < 3 && count < COUNT; i++) {
            struct sample_output other = {NULL, 0, 0};
            encode(records, count, others[i], &other);
            CU_ASSERT_TRUE(packed_bytes(&out) <= packed_bytes(&other));
            free(other.data);
        }
        free(out.data);
    }
    struct hatf_encoder *encoder;
    struct step_error error;
    CU_ASSERT_EQUAL(hatf_encoder_create_for(NULL, HATF_ENCODING_STRIDE, STEP_COMPRESSION_ZLIB,
                                            &encoder, &error),
                    STEP_STATUS_INVALID);
    free(records);
}

/* Large attributes end windows early. */
static void test_large_attributes(void)
{
    enum { COUNT = 600 };
    static uint8_t bytes[HATF_ATTRIBUTES_MAX];
    struct hatf_record *records = calloc(COUNT, sizeof *records);
    for (size_t i = 0; i < COUNT; i++)
        records[i] = (struct hatf_record){
            .tag = HATF_FREE, .address = i, .attributes = {bytes, i % 3 == 0 ? sizeof bytes : 0}};
    for (unsigned i = 0; i < HATF_ENCODING_COUNT; i++) {
        struct sample_output out = {NULL, 0, 0};
        encode(records, COUNT, (enum hatf_encoding) i, &out);
        CU_ASSERT_TRUE(reads_back(&out, records, COUNT));
        free(out.data);
    }
    free(records);
}

/* ---- the search through all ---- */

/* Every state that the field may be in after some values, and what the cheapest way there cost: no
 * state is left out, and nothing is assumed of which metadata are worth it. */
enum { STATES_MAX = 20000 };

struct reached {
    struct hatf_field_state state;
    uint64_t cost;
};

struct search {
    const uint64_t *values;
    size_t count;
    size_t at;
    uint64_t bound;
    struct reached *next;
    size_t next_count;
};

static bool is_same(const struct hatf_field_state *a, const struct hatf_field_state *b)
{
    return a->interpretation == b->interpretation && a->width == b->width &&
           a->last_width == b->last_width && a->value == b->value && a->stride == b->stride;
}

/* Stores the value at hand, if it fits. */
static void store(struct search *search, const struct hatf_state *state, uint64_t cost)
{
    struct hatf_field_state field = state->fields[HATF_ADDRESS];
    uint64_t value = search->values[search->at];
    cost += field.width;
    if (cost > search->bound || !step_field_fits(field.interpretation, value, field.width,
                                                 field.value, field.stride, field.previous))
        return;
    field.previous = value;
    if (field.interpretation == HATF_NONE || field.interpretation == HATF_DELTA)
        field.value = 0;
    if (field.interpretation != HATF_STRIDE)
        field.stride = 0;
    size_t i = 0;
    while (i < search->next_count && !is_same(&search->next[i].state, &field))
        i++;
    if (i == search->next_count) {
        CU_ASSERT_TRUE_FATAL(i < STATES_MAX);
        search->next[search->next_count++] = (struct reached){field, cost};
    } else if (cost < search->next[i].cost) {
        search->next[i].cost = cost;
    }
}

static void store_after(struct search *search, const struct hatf_state *state, uint64_t cost,
                        enum hatf_interpretation interpretation, uint64_t value, uint64_t stride)
{
    const struct hatf_metadata metadata = {HATF_SET_INTERPRETATION, HATF_ADDRESS,
                                           (uint8_t) interpretation, value, stride};
    struct hatf_state after = *state;
    hatf_state_apply(&after, &metadata);
    store(search, &after, cost);
}

/* Stores the value as things are, and after each interpretation set anew. */
static void try_interpretations(struct search *search, const struct hatf_state *state,
                                uint64_t cost)
{
    static const uint8_t widths[] = {1, 2, 4};
    const uint64_t *values = search->values;
    size_t at = search->at;
    store(search, state, cost);
    store_after(search, state, cost + 4, HATF_NONE, 0, 0);
    store_after(search, state, cost + 12, HATF_DEFAULT, values[at], 0);
    store_after(search, state, cost + 12, HATF_DELTA, values[at], 0);
    for (size_t i = 0; i < sizeof widths; i++)
        for (size_t least = at; least < search->count; least++)
            store_after(search, state, cost + 12, HATF_BASE_OFFSET,
                        values[least] + (UINT64_C(1) << (8 * widths[i] - 1)), 0);
    if (at + 1 < search->count) {
        uint64_t stride = values[at + 1] - values[at];
        store_after(search, state, cost + 20, HATF_STRIDE, values[at] - stride, stride);
    }
}

static uint64_t search_all(const uint64_t *values, size_t count, uint64_t bound)
{
    static const uint8_t widths[] = {1, 2, 4, 8};
    static struct reached lists[2][STATES_MAX];
    struct search search = {.values = values, .count = count, .bound = bound};
    struct hatf_state state;
    size_t now_count = 1;
    hatf_state_init(&state);
    lists[0][0] = (struct reached){state.fields[HATF_ADDRESS], 0};
    for (search.at = 0; search.at < count; search.at++) {
        const struct reached *now = lists[search.at & 1];
        search.next = lists[(search.at + 1) & 1];
        search.next_count = 0;
        for (size_t i = 0; i < now_count; i++) {
            state.fields[HATF_ADDRESS] = now[i].state;
            try_interpretations(&search, &state, now[i].cost);
            for (size_t j = 0; j < sizeof widths; j++) {
                const struct hatf_metadata metadata = {HATF_SET_WIDTH, HATF_ADDRESS, widths[j], 0,
                                                       0};
                struct hatf_state after = state;
                hatf_state_apply(&after, &metadata);
                try_interpretations(&search, &after, now[i].cost + 4);
            }
        }
        now_count = search.next_count;
    }
    uint64_t best = UINT64_MAX;
    for (size_t i = 0; i < now_count; i++)
        if (search.next[i].cost < best)
            best = search.next[i].cost;
    return best;
}

/* Values of a few sizes and patterns, so that short traces have something to choose. */
static void fill_values(uint64_t *values, size_t count, uint64_t *seed)
{
    uint64_t scale = UINT64_C(1) << (sample_random(seed) % 5 * 10);
    uint64_t pattern = sample_random(seed) % 4;
    values[0] = scale;
    for (size_t i = 1; i < count; i++) {
        values[i] = values[i - 1];
        if (pattern == 0)
            values[i] += 16;
        else if (pattern == 1 && sample_random(seed) % 6 == 0)
            values[i] = sample_random(seed) % scale;
        else if (pattern >= 2)
            values[i] += sample_random(seed) % (pattern == 2 ? 100 : 20000);
    }
}

static void test_cheapest(void)
{
    enum { MOST = 24 };
    uint64_t seed = 4711;
    for (unsigned round = 0; round < 60; round++) {
        uint64_t values[MOST];
        struct hatf_record records[MOST];
        size_t count = 1 + sample_random(&seed) % MOST;
        fill_values(values, count, &seed);
        for (size_t i = 0; i < count; i++)
            records[i] = (struct hatf_record){.tag = HATF_FREE, .address = values[i]};
        struct sample_output out = {NULL, 0, 0};
        uint64_t size = encode(records, count, HATF_ENCODING_OPTIMAL, &out) - count; /* the tags */
        uint64_t best = search_all(values, count, size);
        if (best != size)
            printf("round %u: %llu bytes, the search found %llu\n", round,
                   (unsigned long long) size, (unsigned long long) best);
        CU_ASSERT_EQUAL(best, size);
        free(out.data);
    }
}

void add_suite(void)
{
    CU_pSuite suite = CU_add_suite("hatf encoder", NULL, NULL);
    CU_add_test(suite, "round trips", test_round_trips);
    CU_add_test(suite, "windows", test_windows);
    CU_add_test(suite, "for a packer", test_for_a_packer);
    CU_add_test(suite, "large attributes", test_large_attributes);
    CU_add_test(suite, "the cheapest", test_cheapest);
}
