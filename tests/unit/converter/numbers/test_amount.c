/* SPDX-License-Identifier: Apache-2.0 */
/* Amounts: exact numbers and estimates through the same functions, and tables of them. */
#include <CUnit/Basic.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "converter/cli/report_table.h"
#include "converter/numbers/amount.h"
#include "tests/unit/run_suite.h"

#define INTERVAL 1000u

static struct sampling drawn = {.interval_bytes = INTERVAL};

/* Samples of one size, with the weight that it has. */
static struct sample_sums samples_of(unsigned count, uint64_t size_bytes)
{
    struct sample_sums sums = {.samples = 0};
    for (unsigned i = 0; i < count; i++)
        sample_sums_weigh(&sums, size_bytes, sample_weight(size_bytes, INTERVAL), &drawn);
    return sums;
}

/* A median of two counts, and a change of it, are no rounded numbers. */
static void test_halves(void)
{
    const struct amount median = amount_real(1234567.5, AMOUNT_OBJECTS),
                        whole = amount_real(1234567, AMOUNT_OBJECTS),
                        change = amount_real_change(-0.5, AMOUNT_OBJECTS),
                        near = amount_real(2.999, AMOUNT_OBJECTS),
                        much = amount_real(1.5e15, AMOUNT_OBJECTS);
    CU_ASSERT_STRING_EQUAL(amount_scaled(&median).text, "1,234,567.5");
    CU_ASSERT_STRING_EQUAL(amount_scaled(&whole).text, "1,234,567");
    CU_ASSERT_STRING_EQUAL(amount_scaled(&change).text, "-0.5");
    CU_ASSERT_STRING_EQUAL(amount_scaled(&near).text, "3");
    CU_ASSERT_STRING_EQUAL(amount_scaled(&much).text, "1,500,000,000,000,000");
    const struct amount estimate =
        amount_estimated((struct estimate){2.5, 1, 4, 1}, AMOUNT_OBJECTS);
    CU_ASSERT_STRING_EQUAL(amount_scaled(&estimate).text, "3");
}

static void test_exact(void)
{
    const struct amount none = amount_of_objects(0, NULL), one = amount_of_objects(1, NULL),
                        most = amount_of_bytes(UINT64_MAX, NULL);
    CU_ASSERT_FALSE(one.is_estimate);
    CU_ASSERT_EQUAL(one.range.low, 1);
    CU_ASSERT_EQUAL(one.range.high, 1);
    CU_ASSERT_STRING_EQUAL(amount_digits(&none).text, "0");
    CU_ASSERT_STRING_EQUAL(amount_digits(&most).text, "18446744073709551615"); /* not rounded */
    CU_ASSERT_STRING_EQUAL(amount_scaled(&most).text, "16777216 TiB");
    char text[AMOUNT_PAIR_TEXT];
    const struct amount bytes = amount_of_bytes(1536, NULL);
    amount_pair_text(&one, &bytes, text);
    CU_ASSERT_STRING_EQUAL(text, "1 object, 1.50 KiB");
    amount_pair_text(&none, &none, text);
    CU_ASSERT_STRING_EQUAL(text, "0 objects, 0 B");
}

static void test_estimated(void)
{
    const struct sample_sums some = samples_of(10, 100), nothing = {.samples = 0};
    const struct amount objects = amount_of_objects(10, &some),
                        bytes = amount_of_bytes(1000, &some),
                        unseen = amount_of_objects(0, &nothing);
    CU_ASSERT(objects.is_estimate);
    CU_ASSERT_EQUAL(objects.whole, 105); /* 10 / (1 - exp(-0.1)) */
    CU_ASSERT(objects.range.low < 105 && objects.range.high > 105);
    CU_ASSERT_EQUAL(bytes.whole, 10508);
    CU_ASSERT_STRING_EQUAL(amount_digits(&objects).text, "105");
    CU_ASSERT_STRING_EQUAL(amount_digits(&unseen).text, "-");
    char text[AMOUNT_PAIR_TEXT];
    amount_pair_text(&objects, &bytes, text);
    CU_ASSERT(strncmp(text, "105 objects (", 13) == 0);
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "), 10.3 KiB ("));
    const struct amount twice = amount_times(objects, 2);
    CU_ASSERT_EQUAL(twice.whole, 210);
    CU_ASSERT_DOUBLE_EQUAL(twice.range.low, 2 * objects.range.low, 1e-9);
    CU_ASSERT_STRING_EQUAL(amount_range_of(&unseen, false).text, "-");
    CU_ASSERT_PTR_NOT_NULL(strstr(amount_range_of(&bytes, true).text, "KiB..1"));
    amount_pair_text(&unseen, &unseen, text);
    CU_ASSERT_STRING_EQUAL(text, "no sample");
    const struct sample_sums lost = samples_of(1, 0);
    const struct amount frees = amount_of_objects(1, &lost), no_bytes = amount_of_bytes(0, &lost);
    amount_pair_text(&frees, &no_bytes, text);
    CU_ASSERT_PTR_NOT_NULL(strstr(text, " objects ("));
    CU_ASSERT_PTR_NOT_NULL(strstr(text, " of unknown size"));
}

/* What was not recorded has no digits; times of a trace without a clock count steps. */
static void test_states(void)
{
    const struct amount lost = amount_not_recorded(amount_exact(7, AMOUNT_BYTES)),
                        none = amount_none(AMOUNT_NS),
                        steps = amount_exact(1500, amount_unit_of_times(TIME_STEPS)),
                        time = amount_exact(1500, amount_unit_of_times(TIME_NS)),
                        mean = amount_real(1500.25, AMOUNT_NS);
    CU_ASSERT_STRING_EQUAL(amount_digits(&lost).text, "-");
    CU_ASSERT_STRING_EQUAL(amount_scaled(&none).text, "-");
    CU_ASSERT_STRING_EQUAL(amount_scaled(&steps).text, "1,500 steps");
    CU_ASSERT_STRING_EQUAL(amount_scaled(&time).text, "1.50 us");
    CU_ASSERT_STRING_EQUAL(amount_scaled(&mean).text, "1.50 us");
}

/* A change has a sign, and a bound of its interval may be infinite. */
static void test_changes(void)
{
    struct sample_sums some = samples_of(10, 100), more = samples_of(1000, 100);
    some.is_one_size = more.is_one_size = true;
    const struct amount fewer = amount_change(-7, AMOUNT_OBJECTS),
                        grown = amount_estimated_change(
                            estimate_difference(estimate_objects(&more), estimate_objects(&some)),
                            AMOUNT_OBJECTS);
    struct amount same = amount_estimated_change(
        estimate_difference(estimate_objects(&some), estimate_objects(&some)), AMOUNT_OBJECTS);
    CU_ASSERT_STRING_EQUAL(amount_digits(&fewer).text, "-7");
    CU_ASSERT_FALSE(fewer.is_estimate);
    CU_ASSERT_STRING_EQUAL(amount_digits(&grown).text, "+10403");
    CU_ASSERT_FALSE(amount_is_noise(&grown));
    CU_ASSERT_STRING_EQUAL(amount_digits(&same).text, "0");
    CU_ASSERT_STRING_EQUAL(amount_scaled(&same).text, "0");
    CU_ASSERT_STRING_EQUAL(amount_scaled_value(&grown, -2).text, "-2");
    same.range.high = INFINITY; /* a side without a sample */
    CU_ASSERT_STRING_EQUAL(amount_range_of(&same, true).text, "-");
    CU_ASSERT(amount_is_noise(&same));
    struct amount slope = amount_real_change(-1536.5, AMOUNT_BYTES);
    CU_ASSERT_STRING_EQUAL(amount_scaled(&slope).text, "-1.50 KiB");
    slope.is_unsure = true;
    CU_ASSERT_STRING_EQUAL(amount_scaled(&slope).text, "~");
    /* Rounded to nothing, as where a median is between two runs. */
    const struct amount half = amount_real_change(-0.5, AMOUNT_BYTES),
                        little = amount_real_change(0.04, AMOUNT_OBJECTS);
    CU_ASSERT_STRING_EQUAL(amount_scaled(&half).text, "0 B");
    CU_ASSERT_STRING_EQUAL(amount_scaled(&little).text, "0");
}

/* ---- tables ---- */

struct row {
    uint64_t count;
    const struct sample_sums *samples;
    bool has_life;
};

static struct amount count_of(const void *row)
{
    const struct row *of = row;
    return amount_of_objects(of->count, of->samples);
}

static struct amount life_of(const void *row)
{
    return ((const struct row *) row)->has_life ? amount_real(2.5, AMOUNT_NS)
                                                : amount_none(AMOUNT_NS);
}

static const char lives[] = "lives";

static const struct report_column columns[] = {
    {"objects", "objects", 8, REPORT_RANGE, REPORT_EVERYWHERE, .value = count_of},
    {"hidden", NULL, 0, REPORT_DIGITS, REPORT_SAMPLED_JSON | REPORT_CSV, .value = count_of},
    {"mean", "life", 8, REPORT_SCALED, REPORT_TEXT | REPORT_JSON, .value = life_of, .group = lives},
    {"most", NULL, 0, REPORT_SCALED, REPORT_JSON, .value = life_of, .group = lives},
};

enum form { AS_TEXT, AS_JSON, AS_CSV };

/* Returns what is printed of a row, which the caller frees. */
static char *printed(const struct report_table *table, const struct row *row, enum form form)
{
    char *text = NULL;
    size_t length;
    FILE *out = open_memstream(&text, &length);
    struct json_output json;
    CU_ASSERT_PTR_NOT_NULL_FATAL(out);
    json_init(&json, out);
    json.is_compact = true;
    if (form == AS_CSV) {
        report_table_put_csv_head(table, out);
        fputc('\n', out);
        report_table_put_csv_row(table, row, out);
    } else if (form == AS_JSON) {
        json_begin_object(&json, NULL);
        report_table_put_row(table, row, &json);
        json_end_object(&json);
    } else {
        report_table_print_head(table, out);
        fputc('\n', out);
        report_table_print_row(table, row, out);
    }
    fclose(out);
    return text;
}

static void expect(const struct report_table *table, const struct row *row, enum form form,
                   const char *wanted)
{
    char *text = printed(table, row, form);
    CU_ASSERT_STRING_EQUAL(text, wanted);
    if (strcmp(text, wanted) != 0)
        printf("\n<%s>\n", text);
    free(text);
}

static void test_table(void)
{
    const struct report_table table = {.columns = columns, .count = 4};
    const struct row row = {12, NULL, true}, bare = {0, NULL, false};
    expect(&table, &row, AS_TEXT, " objects     life \n      12     2 ns ");
    expect(&table, &bare, AS_TEXT, " objects     life \n       0        - ");
    expect(&table, &row, AS_JSON, "{\"objects\":12,\"lives\":{\"mean\":2.5,\"most\":2.5}}");
    expect(&table, &bare, AS_JSON, "{\"objects\":0}");
    expect(&table, &row, AS_CSV, "objects,hidden\n12,12");
}

static void test_sampled_table(void)
{
    const struct report_table table = {.columns = columns, .count = 4, .sampling = &drawn};
    struct sample_sums some = samples_of(1, 100000);
    const struct sample_sums nothing = {.samples = 0};
    some.is_one_size = true; /* one that is always sampled */
    const struct row sure = {1, &some, true}, unseen = {0, &nothing, false};
    expect(&table, &sure, AS_TEXT,
           "     objects (95 %)                    \n"
           "           1 1..1                      ");
    expect(&table, &unseen, AS_TEXT,
           "     objects (95 %)                    \n"
           "           - -                         ");
    expect(&table, &unseen, AS_JSON,
           "{\"objects\":{\"estimate\":0,\"low\":0},\"hidden\":{\"estimate\":0,\"low\":0}}");
    expect(&table, &sure, AS_CSV, "objects,objects_low,objects_high\n1,1,1");
    expect(&table, &unseen, AS_CSV, "objects,objects_low,objects_high\n0,0,");
}

static void test_bounds_beside(void)
{
    const struct report_table table = {
        .columns = columns, .count = 1, .sampling = &drawn, .has_bounds_beside = true};
    struct sample_sums some = samples_of(1, 100000);
    some.is_one_size = true;
    const struct row sure = {1, &some, true};
    expect(&table, &sure, AS_JSON, "{\"objects\":1,\"objects_low\":1,\"objects_high\":1}");
}

void add_suite(void)
{
    CU_pSuite suite = CU_add_suite("amount", NULL, NULL);
    CU_add_test(suite, "halves of counts", test_halves);
    CU_add_test(suite, "exact numbers", test_exact);
    CU_add_test(suite, "estimates", test_estimated);
    CU_add_test(suite, "not recorded, none, no clock", test_states);
    CU_add_test(suite, "changes", test_changes);
    CU_add_test(suite, "a table", test_table);
    CU_add_test(suite, "a table of samples", test_sampled_table);
    CU_add_test(suite, "bounds beside their value", test_bounds_beside);
}
