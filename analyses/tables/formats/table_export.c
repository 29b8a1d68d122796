/* SPDX-License-Identifier: Apache-2.0 */
/* Exports tables to Parquet files or Native streams.  A file gets its name when it is complete.
 * Removes files of an earlier export of the same run that this one did not write. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analyses/tables/formats/parquet_file.h"
#include "analyses/tables/table.h"
#include "converter/cli/arguments.h"
#include "converter/cli/error_report.h"
#include "converter/containers/no_memory.h"
#include "converter/output/output_file.h"
#include "converter/trace/trace_format.h"

TRACE_FORMAT_DECLARE(parquet)
TRACE_FORMAT_DECLARE(clickhouse_native)

/* ---- values: lengths are varints, numbers little-endian; nulls are one byte per row before the
 * values ---- */

static const char *plain_type(enum table_type type)
{
    switch (type) {
    case TABLE_INT:
        return "Int64";
    case TABLE_BOOL:
        return "UInt8";
    case TABLE_NAME:
    case TABLE_TEXT:
    case TABLE_DATA:
        return "String";
    case TABLE_REAL:
        return "Float64";
    default:
        return "UInt64";
    }
}

/* Writes the type for `create table`: "Nullable(UInt64)". */
static void native_type(const struct table_column *column, char *out, size_t out_size)
{
    snprintf(out, out_size, column->nullable ? "Nullable(%s)" : "%s", plain_type(column->type));
}

/* In place, because there are many and they are short. */
static void table_export_put_text(struct byte_output *out, struct step_bytes text)
{
    uint8_t *at = bytes_put_room(out, text.length + STEP_VARINT_MAX);
    if (at == NULL)
        return;
    at = step_varint_put(at, text.length);
    if (text.length > 0)
        memcpy(at, text.data, text.length);
    out->bytes.length = (size_t) (at - out->bytes.data) + text.length;
}

static void put_nulls(struct byte_output *out, const struct table_vector *vector, size_t count)
{
    uint8_t *at = bytes_put_room(out, count);
    for (size_t i = 0; at != NULL && i < count; i++)
        at[i] = table_vector_is_null(vector, i);
}

static void table_export_put_values(struct byte_output *out, const struct table_vector *vector,
                                    size_t count)
{
    switch (vector->type) {
    case TABLE_BOOL:
        bytes_put(out, vector->flags, count);
        break;
    case TABLE_NAME:
        for (size_t i = 0; i < count; i++)
            table_export_put_text(out, table_vector_is_null(vector, i)
                                           ? (struct step_bytes){NULL, 0}
                                           : vector->dictionary->texts[vector->codes[i]]);
        break;
    case TABLE_TEXT:
    case TABLE_DATA:
        for (size_t i = 0; i < count; i++)
            table_export_put_text(out, vector->texts[i]);
        break;
    default:
        bytes_put_numbers(out, vector->numbers, count);
    }
}

/* Appends a block of the batch's rows; `columns` are column numbers of the table. */
static void native_put_block(struct byte_output *out, const struct table *table,
                             const size_t *columns, size_t column_count,
                             const struct table_batch *batch)
{
    bytes_put_varint(out, column_count);
    bytes_put_varint(out, batch->row_count);
    for (size_t i = 0; i < column_count; i++) {
        const struct table_column *column = &table->columns[columns[i]];
        char type[32];
        native_type(column, type, sizeof type);
        table_export_put_text(out, step_text(column->name));
        table_export_put_text(out, step_text(type));
        if (column->nullable)
            put_nulls(out, &batch->vectors[i], batch->row_count);
        table_export_put_values(out, &batch->vectors[i], batch->row_count);
    }
}

/* Default size of a part, suitable for query engines. */
#define PART_ROWS ((uint64_t) 1 << 24)
enum { PATH_BYTES = 4096, RANGES_MOST = 1 };

/* The selected tables and columns. */
struct table_choice {
    const char *tables;  /* names separated by commas */
    const char *columns; /* the same, for one table; NULL: all */
    const char *run;     /* name of the run; NULL: the file name without its extension */
    bool by_clock;       /* use wall clock times instead of times since the VM's start */
    uint64_t part_rows;  /* of a Parquet file in a directory; 0: the default */
};

struct exporting {
    const struct format_job *job; /* its output: a directory, FILE.parquet, or a stream */
    const struct table_choice *options;
    struct tables *tables;
    char run[256];
    const struct table *table; /* the current table, */
    size_t *columns;           /* its selected columns, */
    size_t column_count;
    struct table_scan *scan; /* and its rows */
    struct output_file file;
    struct parquet_file parquet;
    struct byte_output bytes;
};

/* ---- selection ---- */

/* Copies the next of the comma-separated names.  Returns false if there is none. */
static bool next_name(const char **names, char *out, size_t out_size)
{
    const char *end = *names != NULL ? strchrnul(*names, ',') : NULL;
    if (end == NULL || **names == '\0')
        return false;
    snprintf(out, out_size, "%.*s", (int) (end - *names), *names);
    *names = *end == ',' ? end + 1 : end;
    return true;
}

static enum step_status table_export_choose_columns(struct exporting *exporting,
                                                    struct step_error *error)
{
    const char *names = exporting->options->columns;
    char name[600];
    enum step_status status = STEP_STATUS_OK;
    free(exporting->columns);
    exporting->column_count = 0;
    exporting->columns = calloc(exporting->table->column_count + 1, sizeof *exporting->columns);
    if (exporting->columns == NULL)
        return no_memory(error);
    for (size_t i = 0; names == NULL && i < exporting->table->column_count; i++)
        exporting->columns[exporting->column_count++] = i;
    while (status == STEP_STATUS_OK && next_name(&names, name, sizeof name)) {
        size_t column;
        status = table_find_column(exporting->table, name, &column, error);
        if (status == STEP_STATUS_OK && exporting->column_count < exporting->table->column_count)
            exporting->columns[exporting->column_count++] = column;
    }
    return status;
}

/* Returns the column to which --from-time and --to-time apply, or SIZE_MAX if the table has
 * none. */
static size_t time_column(const struct table *table)
{
    static const char *const names[] = {"time", "born", "entry"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        for (size_t k = 0; k < table->column_count; k++)
            if (strcmp(table->columns[k].name, names[i]) == 0 &&
                table->columns[k].type == TABLE_TIME)
                return k;
    return SIZE_MAX;
}

/* Returns NULL for any class, or a pattern by which tables cannot be filtered. */
static const char *one_class(const struct event_selection *selected)
{
    const struct selected_globs *classes = &selected->classes;
    return classes->count == 1 && classes->items[0][0] != '!' ? classes->items[0] : NULL;
}

/* Returns true if tables support this selection: a time range, a class, and a thread. */
static bool is_choice_of_tables(const struct event_selection *selected)
{
    struct event_selection rest = *selected;
    if (one_class(selected) != NULL)
        rest.classes.count = 0;
    return event_selection_is_slice(&rest);
}

static enum step_status open_scan(struct exporting *exporting, struct step_error *error)
{
    const struct event_selection *selected = exporting->job->selected;
    struct table_range range = {time_column(exporting->table), selected->from_ns, selected->to_ns,
                                false};
    struct table_query query = {.columns = exporting->columns,
                                .column_count = exporting->column_count,
                                .class_glob = one_class(selected)};
    uint64_t thread;
    if ((range.least > 0 || range.most < UINT64_MAX) && range.column != SIZE_MAX) {
        query.ranges = &range;
        query.range_count = RANGES_MOST;
    }
    if (exporting->options->part_rows < TABLE_BATCH_ROWS)
        query.batch_rows = (size_t) exporting->options->part_rows;
    if (event_selection_one_thread(selected, &thread)) {
        query.threads = &thread;
        query.thread_count = 1;
    }
    table_scan_destroy(exporting->scan);
    return table_scan_create(exporting->tables, exporting->table, &query, &exporting->scan, error);
}

/* ---- Parquet ---- */

static bool is_one_file(const struct exporting *exporting)
{
    const char *output = exporting->job->output;
    size_t length = strlen(output);
    return length > 8 && strcmp(output + length - 8, ".parquet") == 0;
}

/* A part's name in the output directory. */
static void part_name(const struct exporting *exporting, unsigned number, char *out)
{
    snprintf(out, PATH_BYTES, "table=%s/run=%s/part-%u.parquet", exporting->table->name,
             exporting->run, number);
}

static enum step_status open_part(struct exporting *exporting, unsigned number,
                                  struct step_error *error)
{
    const char *output = exporting->job->output;
    char name[PATH_BYTES], directory[PATH_BYTES];
    bool is_alone = is_one_file(exporting);
    snprintf(directory, sizeof directory, "%s%s", output, is_alone ? "" : "/");
    enum step_status status = output_file_make_directories(directory, error);
    if (status != STEP_STATUS_OK)
        return status;
    if (is_alone)
        return output_file_open(&exporting->file, output, error);
    part_name(exporting, number, name);
    return output_file_open_below(&exporting->file, output, name, output, error);
}

/* Writes one part with the next rows.  `*batch` is the first; it may be empty. */
static enum step_status table_export_write_part(struct exporting *exporting, unsigned number,
                                                const struct table_batch **batch,
                                                struct step_error *error)
{
    const struct table_choice *options = exporting->options;
    uint64_t most = is_one_file(exporting)   ? UINT64_MAX
                    : options->part_rows > 0 ? options->part_rows
                                             : PART_ROWS;
    enum step_status status = open_part(exporting, number, error);
    if (status != STEP_STATUS_OK)
        return status;
    const struct step_output output = output_file_as_output(&exporting->file);
    status = parquet_file_open(&exporting->parquet, exporting->table, exporting->columns,
                               exporting->column_count, &output,
                               options->by_clock ? tables_start_time_ns(exporting->tables) : 0,
                               format_settings_level(exporting->job->settings), error);
    while (status == STEP_STATUS_OK && *batch != NULL && exporting->parquet.row_count < most) {
        status = parquet_file_put(&exporting->parquet, *batch, error);
        if (status == STEP_STATUS_OK)
            status = table_scan_next(exporting->scan, batch, error);
        if (status == STEP_STATUS_END)
            status = STEP_STATUS_OK;
    }
    if (status == STEP_STATUS_OK)
        status = parquet_file_finish(&exporting->parquet, error);
    parquet_file_reset(&exporting->parquet);
    return output_file_end(&exporting->file, status, error);
}

static enum step_status write_parquet(struct exporting *exporting, struct step_error *error)
{
    const struct table_batch *batch = NULL;
    char name[PATH_BYTES];
    unsigned part = 0;
    enum step_status status = table_scan_next(exporting->scan, &batch, error);
    if (status == STEP_STATUS_END)
        status = STEP_STATUS_OK;
    for (; status == STEP_STATUS_OK && (part == 0 || batch != NULL); part++)
        status = table_export_write_part(exporting, part, &batch, error);
    for (; status == STEP_STATUS_OK && !is_one_file(exporting); part++) {
        part_name(exporting, part, name);
        if (!output_file_remove_below(exporting->job->output, name))
            break;
    }
    return status;
}

/* ---- Native ---- */

static enum step_status write_native(struct exporting *exporting, struct step_error *error)
{
    const struct table_batch *batch;
    enum step_status status = output_file_open(&exporting->file, exporting->job->output, error);
    while (status == STEP_STATUS_OK &&
           (status = table_scan_next(exporting->scan, &batch, error)) == STEP_STATUS_OK) {
        struct byte_output *bytes = &exporting->bytes;
        bytes_clear(bytes);
        native_put_block(bytes, exporting->table, exporting->columns, exporting->column_count,
                         batch);
        status = bytes->failed ? no_memory(error)
                               : output_file_write(&exporting->file, bytes->bytes.data,
                                                   bytes->bytes.length, error);
    }
    if (status == STEP_STATUS_END)
        status = output_file_commit(&exporting->file, error);
    output_file_abort(&exporting->file);
    return status;
}

/* ---- all tables ---- */

static void report_unrecorded(const struct exporting *exporting)
{
    const char *lack = table_unrecorded(exporting->tables, exporting->table);
    if (lack != NULL)
        report_line("%s: " TABLE_UNRECORDED_TEXT, exporting->job->input, exporting->table->name,
                    lack);
}

static enum step_status export_table(struct exporting *exporting, const char *name,
                                     struct step_error *error)
{
    enum step_status status = tables_find(exporting->tables, name, &exporting->table, error);
    if (status == STEP_STATUS_OK)
        status = table_export_choose_columns(exporting, error);
    if (status == STEP_STATUS_OK)
        status = open_scan(exporting, error);
    if (status != STEP_STATUS_OK)
        return status == STEP_STATUS_NOT_FOUND ? STEP_STATUS_INVALID : status;
    report_unrecorded(exporting);
    return exporting->job->format == &format_parquet ? write_parquet(exporting, error)
                                                     : write_native(exporting, error);
}

/* Checks all names before the first table is written. */
static enum step_status table_export_check_names(const struct exporting *exporting, size_t *count,
                                                 struct step_error *error)
{
    const char *names = exporting->options->tables;
    const struct table *table;
    char name[600];
    enum step_status status = STEP_STATUS_OK;
    *count = 0;
    while (status == STEP_STATUS_OK && next_name(&names, name, sizeof name)) {
        status = tables_find(exporting->tables, name, &table, error);
        ++*count;
    }
    if (status == STEP_STATUS_OK && *count == 0)
        status = step_error_set(error, STEP_STATUS_INVALID, NULL, STEP_NO_OFFSET,
                                "--table=NAMES is missing (objects,calls; docs/tables.md)");
    bool is_single = exporting->job->format == &format_clickhouse_native ||
                     is_one_file(exporting) || exporting->options->columns != NULL;
    if (status == STEP_STATUS_OK && *count > 1 && is_single)
        status = step_error_set(error, STEP_STATUS_INVALID, NULL, STEP_NO_OFFSET,
                                "only one table can go into one file, or have --columns");
    if (status == STEP_STATUS_OK && exporting->options->by_clock &&
        tables_start_time_ns(exporting->tables) == 0)
        status =
            step_error_set(error, STEP_STATUS_INVALID, NULL, STEP_NO_OFFSET,
                           "the trace does not contain its start time, so --clock is not possible");
    if (status == STEP_STATUS_OK && !is_choice_of_tables(exporting->job->selected))
        status = step_error_set(error, STEP_STATUS_INVALID, NULL, STEP_NO_OFFSET,
                                "tables can be limited by time, one --class and one --thread "
                                "number; `steptrace sql` selects by any column");
    return status == STEP_STATUS_NOT_FOUND ? STEP_STATUS_INVALID : status;
}

static enum step_status export_all(struct exporting *exporting, struct step_error *error)
{
    const char *names = exporting->options->tables;
    char name[600];
    size_t count;
    enum step_status status = table_export_check_names(exporting, &count, error);
    while (status == STEP_STATUS_OK && next_name(&names, name, sizeof name))
        status = export_table(exporting, name, error);
    return status;
}

static void name_run(const char *path, const char *given, char *out, size_t out_size)
{
    const char *slash = strrchr(path, '/');
    const char *name = given != NULL ? given : slash != NULL ? slash + 1 : path;
    const char *dot = given != NULL ? NULL : strchr(name + 1, '.');
    snprintf(out, out_size, "%.*s", dot != NULL ? (int) (dot - name) : (int) strlen(name), name);
    for (char *at = out; *at != '\0'; at++)
        if (*at == '/' || *at == '=')
            *at = '_';
}

static const struct format_option rows_of[] = {
    {{"table", 0, "NAMES", "tables: these tables, as objects,calls", take_text, NULL},
     offsetof(struct table_choice, tables)},
    {{"columns", 0, "NAMES", "tables: only these columns, of a single table", take_text, NULL},
     offsetof(struct table_choice, columns)},
    {{"run", 0, "NAME", "tables: name of the run (the file name)", take_text, NULL},
     offsetof(struct table_choice, run)},
    {{"part-rows", 0, "N", "tables: rows per Parquet file of a directory (16777216)", take_count,
      NULL},
     offsetof(struct table_choice, part_rows)},
    {{"clock", 0, NULL, "tables: wall-clock times instead of times since the start", take_flag,
      NULL},
     offsetof(struct table_choice, by_clock)},
    {.place = 0}};

static const struct format_options table_options = {sizeof(struct table_choice), rows_of, NULL};

/* Returns CORRUPT if the trace is damaged or cut; the intact part was written then. */
static enum step_status write_tables(const struct format_job *job)
{
    struct exporting exporting = {.job = job,
                                  .options = format_settings_get(job->settings, &table_options)};
    struct step_error error = {.offset = STEP_NO_OFFSET};
    struct step_error damage = {.offset = STEP_NO_OFFSET};
    char unmatched[TABLES_CLASS_TEXT];
    enum step_status status = tables_open(job->input, &exporting.tables, &error);
    name_run(job->input, exporting.options->run, exporting.run, sizeof exporting.run);
    if (status == STEP_STATUS_OK)
        status = export_all(&exporting, &error);
    const char *glob = one_class(job->selected);
    if (status == STEP_STATUS_OK && glob != NULL &&
        !tables_have_class(exporting.tables, glob, unmatched))
        report_line("%s", unmatched);
    if (status != STEP_STATUS_OK)
        report_error(&error);
    else if (tables_damage(exporting.tables, &damage) != STEP_STATUS_OK)
        status = report_error(&damage);
    table_scan_destroy(exporting.scan);
    tables_close(exporting.tables);
    bytes_reset(&exporting.bytes);
    free(exporting.columns);
    return status == STEP_STATUS_FORMAT ? STEP_STATUS_CORRUPT : status;
}

static const struct format_options *const parquet_options[] = {&table_options, &compression_options,
                                                               NULL};
static const struct format_options *const native_options[] = {&table_options, NULL};

const struct trace_format format_parquet = {
    .name = "parquet",
    .help = "Parquet, directories table=T/run=R",
    .needs = FORMAT_NEEDS_TABLES,
    .options = parquet_options,
    .write = write_tables,
};

const struct trace_format format_clickhouse_native = {
    .name = "clickhouse-native",
    .help = "blocks for clickhouse-client",
    .needs = FORMAT_NEEDS_TABLES,
    .options = native_options,
    .write = write_tables,
};
