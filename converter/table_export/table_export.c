/* SPDX-License-Identifier: Apache-2.0 */
/* Each file appears under its name when it is complete; those that an earlier export made of the
 * same run, and this one did not, are removed. */
#include "converter/table_export/table_export.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "converter/base/error_report.h"
#include "converter/base/no_memory.h"
#include "converter/files/output_file.h"
#include "converter/table_export/native_output.h"
#include "converter/table_export/parquet_file.h"
#include "converter/tables/table.h"

/* A part is as large as engines like it. */
#define PART_ROWS ((uint64_t) 1 << 24)
enum { PATH_BYTES = 4096, RANGES_MOST = 1 };

struct exporting {
    const struct table_export *options;
    struct tables *tables;
    char run[256];
    const struct table *table; /* the one at hand, */
    size_t *columns;           /* its columns that are wanted, */
    size_t column_count;
    struct table_scan *scan; /* and its rows */
    struct output_file file;
    struct parquet_file parquet;
    struct step_buffer bytes;
};

static const struct {
    const char *name;
    enum table_format format;
    const char *help;
} formats[] = {{"parquet", TABLES_AS_PARQUET,
                "parquet (a directory)        Parquet, table=T/run=R/part-N.parquet"},
               {"clickhouse-native", TABLES_AS_NATIVE,
                "clickhouse-native            blocks for clickhouse-client"}};

enum table_format table_format_by_name(const char *name)
{
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++)
        if (strcmp(formats[i].name, name) == 0)
            return formats[i].format;
    return TABLES_AS_NOTHING;
}

void table_format_help(char *out, size_t out_size)
{
    size_t length = 0;
    out[0] = '\0';
    for (size_t i = 0; i < sizeof formats / sizeof formats[0] && length < out_size; i++)
        length += (size_t) snprintf(out + length, out_size - length, "  %s\n", formats[i].help);
}

/* ---- what is wanted ---- */

/* The next of names with commas between; false: there is none. */
static bool next_name(const char **names, char *out, size_t out_size)
{
    const char *end = *names != NULL ? strchrnul(*names, ',') : NULL;
    if (end == NULL || **names == '\0')
        return false;
    snprintf(out, out_size, "%.*s", (int) (end - *names), *names);
    *names = *end == ',' ? end + 1 : end;
    return true;
}

static enum step_status choose_columns(struct exporting *exporting, struct step_error *error)
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

/* The column that --from-time and --to-time are about; SIZE_MAX: the table has none. */
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

/* NULL: any, or what a table cannot choose by. */
static const char *one_class(const struct event_selection *selected)
{
    const struct selected_globs *classes = &selected->classes;
    return classes->count == 1 && classes->items[0][0] != '!' ? classes->items[0] : NULL;
}

/* Tables have columns of their own for the rest of what events are chosen by. */
static bool is_choice_of_tables(const struct event_selection *selected)
{
    struct event_selection rest = *selected;
    if (one_class(selected) != NULL)
        rest.classes.count = 0;
    return event_selection_is_slice(&rest);
}

static enum step_status open_scan(struct exporting *exporting, struct step_error *error)
{
    const struct event_selection *selected = exporting->options->selected;
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

/* Makes the directories of a path. */
static enum step_status make_directories(const char *path, struct step_error *error)
{
    char part[PATH_BYTES];
    for (const char *slash = strchr(path + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        snprintf(part, sizeof part, "%.*s", (int) (slash - path), path);
        if (mkdir(part, 0777) != 0 && errno != EEXIST)
            return step_error_set(error, STEP_STATUS_IO, part, STEP_NO_OFFSET, "cannot create: %s",
                                  strerror(errno));
    }
    return STEP_STATUS_OK;
}

static bool is_one_file(const struct table_export *options)
{
    size_t length = strlen(options->output);
    return length > 8 && strcmp(options->output + length - 8, ".parquet") == 0;
}

static void part_path(const struct exporting *exporting, unsigned number, char *out)
{
    const struct table_export *options = exporting->options;
    if (is_one_file(options))
        snprintf(out, PATH_BYTES, "%s", options->output);
    else
        snprintf(out, PATH_BYTES, "%s/table=%s/run=%s/part-%u.parquet", options->output,
                 exporting->table->name, exporting->run, number);
}

/* One part, of the rows that come next; `*batch` is the first and may be none. */
static enum step_status write_part(struct exporting *exporting, const char *path,
                                   const struct table_batch **batch, struct step_error *error)
{
    const struct table_export *options = exporting->options;
    uint64_t most = is_one_file(options)     ? UINT64_MAX
                    : options->part_rows > 0 ? options->part_rows
                                             : PART_ROWS;
    enum step_status status = make_directories(path, error);
    if (status == STEP_STATUS_OK)
        status = output_file_open(&exporting->file, path, error);
    if (status != STEP_STATUS_OK)
        return status;
    const struct step_output output = output_file_as_output(&exporting->file);
    status = parquet_file_open(
        &exporting->parquet, exporting->table, exporting->columns, exporting->column_count, &output,
        options->by_clock ? tables_start_time_ns(exporting->tables) : 0, options->level, error);
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
    if (status == STEP_STATUS_OK)
        status = output_file_commit(&exporting->file, error);
    output_file_abort(&exporting->file);
    return status;
}

static enum step_status write_parquet(struct exporting *exporting, struct step_error *error)
{
    const struct table_batch *batch = NULL;
    char path[PATH_BYTES];
    unsigned part = 0;
    enum step_status status = table_scan_next(exporting->scan, &batch, error);
    if (status == STEP_STATUS_END)
        status = STEP_STATUS_OK;
    for (; status == STEP_STATUS_OK && (part == 0 || batch != NULL); part++) {
        part_path(exporting, part, path);
        status = write_part(exporting, path, &batch, error);
    }
    for (; status == STEP_STATUS_OK && !is_one_file(exporting->options); part++) {
        part_path(exporting, part, path);
        if (unlink(path) != 0)
            break;
    }
    return status;
}

/* ---- Native ---- */

static enum step_status write_native(struct exporting *exporting, struct step_error *error)
{
    const struct table_batch *batch;
    enum step_status status = output_file_open(&exporting->file, exporting->options->output, error);
    while (status == STEP_STATUS_OK &&
           (status = table_scan_next(exporting->scan, &batch, error)) == STEP_STATUS_OK) {
        exporting->bytes.length = 0;
        if (!native_put_block(&exporting->bytes, exporting->table, exporting->columns,
                              exporting->column_count, batch))
            status = no_memory(error);
        else
            status = output_file_write(&exporting->file, exporting->bytes.data,
                                       exporting->bytes.length, error);
    }
    if (status == STEP_STATUS_END)
        status = output_file_commit(&exporting->file, error);
    output_file_abort(&exporting->file);
    return status;
}

/* ---- all tables ---- */

static enum step_status export_table(struct exporting *exporting, const char *name,
                                     struct step_error *error)
{
    enum step_status status = tables_find(exporting->tables, name, &exporting->table, error);
    if (status == STEP_STATUS_OK)
        status = choose_columns(exporting, error);
    if (status == STEP_STATUS_OK)
        status = open_scan(exporting, error);
    if (status != STEP_STATUS_OK)
        return status == STEP_STATUS_NOT_FOUND ? STEP_STATUS_INVALID : status;
    return exporting->options->format == TABLES_AS_PARQUET ? write_parquet(exporting, error)
                                                           : write_native(exporting, error);
}

/* All names are looked up before the first table is written. */
static enum step_status check_names(const struct exporting *exporting, size_t *count,
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
    bool is_single = exporting->options->format == TABLES_AS_NATIVE ||
                     is_one_file(exporting->options) || exporting->options->columns != NULL;
    if (status == STEP_STATUS_OK && *count > 1 && is_single)
        status = step_error_set(error, STEP_STATUS_INVALID, NULL, STEP_NO_OFFSET,
                                "only one table can go into one file, or have --columns");
    if (status == STEP_STATUS_OK && exporting->options->by_clock &&
        tables_start_time_ns(exporting->tables) == 0)
        status = step_error_set(error, STEP_STATUS_INVALID, NULL, STEP_NO_OFFSET,
                                "the trace does not tell when it began: there is no --clock");
    if (status == STEP_STATUS_OK && !is_choice_of_tables(exporting->options->selected))
        status = step_error_set(error, STEP_STATUS_INVALID, NULL, STEP_NO_OFFSET,
                                "of tables a time, one --class and one --thread by its number can "
                                "be chosen; `steptrace sql` chooses by any column");
    return status == STEP_STATUS_NOT_FOUND ? STEP_STATUS_INVALID : status;
}

static enum step_status export_all(struct exporting *exporting, struct step_error *error)
{
    const char *names = exporting->options->tables;
    char name[600];
    size_t count;
    enum step_status status = check_names(exporting, &count, error);
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

static enum step_status tell(const struct step_error *error)
{
    char text[1024];
    step_error_print(error, text, sizeof text);
    report_line("%s", text);
    return error->status;
}

enum step_status table_export(const char *path, const struct table_export *export)
{
    struct exporting exporting = {.options = export};
    struct step_error error = {.offset = STEP_NO_OFFSET};
    struct step_error damage = {.offset = STEP_NO_OFFSET};
    enum step_status status = tables_open(path, &exporting.tables, &error);
    name_run(path, export->run, exporting.run, sizeof exporting.run);
    if (status == STEP_STATUS_OK)
        status = export_all(&exporting, &error);
    if (status != STEP_STATUS_OK)
        tell(&error);
    else if (tables_damage(exporting.tables, &damage) != STEP_STATUS_OK)
        status = tell(&damage);
    table_scan_destroy(exporting.scan);
    tables_close(exporting.tables);
    step_buffer_reset(&exporting.bytes);
    free(exporting.columns);
    return status == STEP_STATUS_FORMAT ? STEP_STATUS_CORRUPT : status;
}
