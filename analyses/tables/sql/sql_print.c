/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the rows of a statement as a table, as CSV or as JSON. */
#include "analyses/tables/sql/sql_print.h"

#include <math.h>
#include <stdlib.h>

#include "converter/cli/csv_output.h"
#include "converter/cli/error_report.h"
#include "format/core/grow.h"
#include "format/json/json_output.h"
#include "steptrace/show.h"
#include "steptrace/value.h"

/* ---- column widths: determined by a table's first rows; rows are printed as they arrive ---- */

enum { ROWS_MEASURED = 1000, WIDEST = 200 };

static struct step_bytes sql_print_text_of(sqlite3_stmt *statement, int column)
{
    const void *data = sqlite3_column_type(statement, column) == SQLITE_BLOB
                           ? sqlite3_column_blob(statement, column)
                           : sqlite3_column_text(statement, column);
    size_t length = (size_t) sqlite3_column_bytes(statement, column);
    return (struct step_bytes){data != NULL ? data : (const void *) "", data != NULL ? length : 0};
}

/* Ends the statement if what it prints cannot be written. */
static int next_row(sqlite3_stmt *statement, FILE *out)
{
    return ferror(out) ? SQLITE_INTERRUPT : sqlite3_step(statement);
}

/* ---- a table ---- */

struct cell {
    char *text;
    bool is_number;
};

struct table_print {
    FILE *out;
    int columns;
    struct cell *cells; /* of the measured rows, row by row; the first row contains the names */
    size_t row_count, capacity;
    int *widths;
};

/* Returns the width of a text in UTF-8 characters. */
static int sql_print_width_of(const char *text)
{
    int width = 0;
    for (; *text != '\0' && width < WIDEST; text++)
        width += ((unsigned char) *text & 0xc0) != 0x80;
    return width;
}

static bool read_cell(sqlite3_stmt *statement, int column, struct cell *cell)
{
    int type = sqlite3_column_type(statement, column);
    cell->is_number = type == SQLITE_INTEGER || type == SQLITE_FLOAT;
    cell->text = shown_copy(sql_print_text_of(statement, column));
    return cell->text != NULL;
}

static bool sql_print_add_row(struct table_print *print, sqlite3_stmt *statement, bool is_head)
{
    size_t columns = (size_t) print->columns;
    if (print->row_count == print->capacity) {
        struct cell *cells = step_grown(print->cells, &print->capacity, print->capacity + 1,
                                        columns * sizeof *cells);
        if (cells == NULL)
            return false;
        print->cells = cells;
    }
    for (int i = 0; i < print->columns; i++) {
        struct cell *cell = &print->cells[print->row_count * columns + (size_t) i];
        *cell = (struct cell){0};
        if (is_head)
            cell->text = shown_copy(step_text(sqlite3_column_name(statement, i)));
        else
            read_cell(statement, i, cell);
        if (cell->text == NULL)
            return false;
        int width = sql_print_width_of(cell->text);
        print->widths[i] = width > print->widths[i] ? width : print->widths[i];
    }
    print->row_count++;
    return true;
}

static void sql_print_put_cell(const struct table_print *print, int column, const struct cell *cell,
                               bool right)
{
    int blanks = print->widths[column] - sql_print_width_of(cell->text);
    const char *between = column > 0 ? "  " : "";
    bool is_last = column + 1 == print->columns;
    if (right)
        fprintf(print->out, "%s%*s%s", between, blanks > 0 ? blanks : 0, "", cell->text);
    else
        fprintf(print->out, "%s%s%*s", between, cell->text, blanks > 0 && !is_last ? blanks : 0,
                "");
}

static void put_measured(struct table_print *print)
{
    size_t columns = (size_t) print->columns;
    for (size_t row = 0; row < print->row_count; row++) {
        for (int i = 0; i < print->columns; i++) {
            const struct cell *cell = &print->cells[row * columns + (size_t) i];
            bool right = row == 0
                             ? print->row_count > 1 && print->cells[columns + (size_t) i].is_number
                             : cell->is_number;
            sql_print_put_cell(print, i, cell, right);
        }
        fputc('\n', print->out);
    }
}

static bool sql_print_put_row(const struct table_print *print, sqlite3_stmt *statement)
{
    for (int i = 0; i < print->columns; i++) {
        struct cell cell;
        if (!read_cell(statement, i, &cell))
            return false;
        sql_print_put_cell(print, i, &cell, cell.is_number);
        free(cell.text);
    }
    fputc('\n', print->out);
    return true;
}

static int print_table(sqlite3_stmt *statement, FILE *out)
{
    struct table_print print = {.out = out, .columns = sqlite3_column_count(statement)};
    int code = SQLITE_NOMEM;
    print.widths = calloc((size_t) print.columns + 1, sizeof *print.widths);
    bool good = print.widths != NULL && sql_print_add_row(&print, statement, true);
    while (good && print.row_count <= ROWS_MEASURED &&
           (code = next_row(statement, out)) == SQLITE_ROW)
        good = sql_print_add_row(&print, statement, false);
    if (good)
        put_measured(&print);
    while (good && code == SQLITE_ROW && (code = next_row(statement, out)) == SQLITE_ROW)
        good = sql_print_put_row(&print, statement);
    for (size_t i = 0; i < print.row_count * (size_t) print.columns; i++)
        free(print.cells[i].text);
    free(print.cells);
    free(print.widths);
    return good ? code : SQLITE_NOMEM;
}

/* ---- CSV ---- */

static int print_csv(sqlite3_stmt *statement, FILE *out)
{
    int columns = sqlite3_column_count(statement);
    int code;
    for (int i = 0; i < columns; i++) {
        fputs(i > 0 ? "," : "", out);
        csv_put_shown_bare(step_text(sqlite3_column_name(statement, i)), out);
    }
    fputs("\n", out);
    while ((code = next_row(statement, out)) == SQLITE_ROW) {
        for (int i = 0; i < columns; i++) {
            fputs(i > 0 ? "," : "", out);
            csv_put_shown_bare(sql_print_text_of(statement, i), out);
        }
        fputs("\n", out);
    }
    return code;
}

/* ---- JSON ---- */

static void sql_print_put_json(sqlite3_stmt *statement, int column, struct json_output *json)
{
    const char *name = sqlite3_column_name(statement, column);
    switch (sqlite3_column_type(statement, column)) {
    case SQLITE_NULL:
        json_null(json, name);
        break;
    case SQLITE_FLOAT:
        if (isinf(sqlite3_column_double(statement, column))) { /* JSON has no word for it */
            json_literal(json, name,
                         sqlite3_column_double(statement, column) > 0 ? "9e999" : "-9e999");
            break;
        }
        /* fall through */
    case SQLITE_INTEGER:
        json_literal(json, name, (const char *) sqlite3_column_text(statement, column));
        break;
    case SQLITE_BLOB:
        json_hex(json, name, sql_print_text_of(statement, column));
        break;
    default:
        json_bytes(json, name, sql_print_text_of(statement, column));
    }
}

static int sql_print_json(sqlite3_stmt *statement, FILE *out)
{
    struct json_output json;
    int columns = sqlite3_column_count(statement);
    bool is_first = true;
    int code;
    fputc('[', out);
    while ((code = next_row(statement, out)) == SQLITE_ROW) {
        fputs(is_first ? "\n" : ",\n", out);
        is_first = false;
        json_init(&json, out);
        json.is_compact = true;
        json_begin_object(&json, NULL);
        for (int i = 0; i < columns; i++)
            sql_print_put_json(statement, i, &json);
        json_end_object(&json);
    }
    fputs("\n]\n", out);
    return code;
}

int sql_print(sqlite3_stmt *statement, enum sql_format format, FILE *out)
{
    if (sqlite3_column_count(statement) == 0)
        return sqlite3_step(statement);
    return format == SQL_AS_CSV    ? print_csv(statement, out)
           : format == SQL_AS_JSON ? sql_print_json(statement, out)
                                   : print_table(statement, out);
}
