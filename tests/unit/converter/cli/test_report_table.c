/* SPDX-License-Identifier: Apache-2.0 */
/* A table of three columns, printed as text, JSON and CSV; and fields of CSV. */
#include <CUnit/Basic.h>
#include <stdlib.h>
#include <string.h>

#include "converter/cli/csv_output.h"
#include "converter/cli/report_table.h"
#include "tests/unit/run_suite.h"

struct shop_row {
    uint64_t objects, bytes;
    bool has_mean;
};

static struct amount objects_of(const void *row)
{
    return amount_exact(((const struct shop_row *) row)->objects, AMOUNT_OBJECTS);
}

static struct amount bytes_of(const void *row)
{
    return amount_exact(((const struct shop_row *) row)->bytes, AMOUNT_BYTES);
}

static struct amount mean_of(const void *row_pointer)
{
    const struct shop_row *row = row_pointer;
    return row->has_mean ? amount_real((double) row->bytes / (double) row->objects, AMOUNT_BYTES)
                         : amount_none(AMOUNT_BYTES);
}

static const struct report_column columns[] = {
    {"objects", "objects", 8, REPORT_DIGITS, REPORT_EVERYWHERE | REPORT_PAGE, .value = objects_of,
     .heading = "Number of objects"},
    {"bytes", "size", 9, REPORT_SCALED, REPORT_TEXT | REPORT_JSON, .value = bytes_of},
    {"mean", "mean", 6, REPORT_DIGITS, REPORT_BOTH_JSONS | REPORT_CSV | REPORT_PAGE,
     .value = mean_of, .heading = "Mean size", .group = "each"},
    {"", "", 3, REPORT_BLANK, REPORT_TEXT, .value = NULL},
};

static const struct sampling drawn = {.interval_bytes = 1000};
static char *printed;
static size_t printed_length;

static FILE *begin_print(void)
{
    FILE *out = open_memstream(&printed, &printed_length);
    CU_ASSERT_PTR_NOT_NULL_FATAL(out);
    return out;
}

static void expect_printed(FILE *out, const char *wanted)
{
    fclose(out);
    CU_ASSERT_STRING_EQUAL(printed, wanted);
    free(printed);
}

static const struct shop_row two = {.objects = 2, .bytes = 3072, .has_mean = true};
static const struct shop_row none = {.objects = 0};

static void test_texts(void)
{
    struct report_table table = {.columns = columns, .count = 4};
    FILE *out = begin_print();
    report_table_print_head(&table, out);
    fputc('|', out);
    report_table_print_row(&table, &two, out);
    expect_printed(out, " objects      size     |       2  3.00 KiB     ");
    table.sampling = &drawn; /* of which the size and the blank are no columns */
    out = begin_print();
    report_table_print_head(&table, out);
    report_table_print_row(&table, &two, out);
    expect_printed(out, " objects        2 ");
}

static void put_object(const struct report_table *table, const struct shop_row *row,
                       const char *wanted)
{
    struct json_output json;
    FILE *out = begin_print();
    json_init(&json, out);
    json.is_compact = true;
    json_begin_object(&json, NULL);
    report_table_put_row(table, row, &json);
    json_end_object(&json);
    expect_printed(out, wanted);
}

/* A group whose first number is none is left out. */
static void test_json(void)
{
    struct report_table table = {.columns = columns, .count = 4};
    put_object(&table, &two, "{\"objects\":2,\"bytes\":3072,\"each\":{\"mean\":1536}}");
    put_object(&table, &none, "{\"objects\":0,\"bytes\":0}");
    table.sampling = &drawn;
    put_object(&table, &two, "{\"objects\":2,\"each\":{\"mean\":1536}}");
}

static void test_csv(void)
{
    struct report_table table = {.columns = columns, .count = 4};
    FILE *out = begin_print();
    report_table_put_csv_head(&table, out);
    fputc('|', out);
    report_table_put_csv_row(&table, &two, out);
    expect_printed(out, "objects,mean|2,1536");
    table.sampling = &drawn;
    out = begin_print();
    report_table_put_csv_head(&table, out);
    fputc('|', out);
    report_table_put_csv_row(&table, &two, out);
    expect_printed(out, "objects|2");
}

/* A page has the columns' headings and units, and null for what there is none of. */
static void test_page(void)
{
    const struct report_table table = {.columns = columns, .count = 4};
    struct json_output json;
    FILE *out = begin_print();
    json_init(&json, out);
    json.is_compact = true;
    json_begin_array(&json, NULL);
    report_table_put_page_heads(&table, &two, &json);
    report_table_put_page_row(&table, &two, false, &json);
    json_begin_object(&json, NULL);
    report_table_put_page_row(&table, &none, true, &json);
    json_end_object(&json);
    json_end_array(&json);
    expect_printed(out, "[[\"objects\",\"Number of objects\",\"objects\"],"
                        "[\"mean\",\"Mean size\",\"bytes\"],2,1536,{\"objects\":0,\"mean\":null}]");
}

/* Quotes are doubled, and fields of what a terminal shows are escaped. */
static void test_fields(void)
{
    const struct step_bytes text = step_text("a\"b,\n\xff");
    FILE *out = begin_print();
    csv_put_text(text, out);
    expect_printed(out, "\"a\"\"b,\n\xef\xbf\xbd\"");
    out = begin_print();
    csv_put_shown_text(text, out);
    expect_printed(out, "\"a\"\"b,\\x0a\\xff\"");
    out = begin_print();
    csv_put_shown_bare(step_text("plain"), out);
    fputc('|', out);
    csv_put_shown_bare(step_text("a,b"), out);
    fputc('|', out);
    csv_put_shown_bare(step_text("\""), out);
    expect_printed(out, "plain|\"a,b\"|\"\"\"\"");
}

void add_suite(void)
{
    CU_pSuite suite = CU_add_suite("tables of reports", NULL, NULL);
    CU_add_test(suite, "text", test_texts);
    CU_add_test(suite, "JSON", test_json);
    CU_add_test(suite, "CSV", test_csv);
    CU_add_test(suite, "page", test_page);
    CU_add_test(suite, "fields of CSV", test_fields);
}
