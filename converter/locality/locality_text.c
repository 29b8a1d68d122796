/* SPDX-License-Identifier: Apache-2.0 */
/* Prints distances, and candidates for co-allocation, for people. */
#include "converter/base/error_report.h"
#include "converter/base/quantity.h"
#include "converter/base/table_text.h"
#include "converter/locality/reference_distances.h"

#define COUNT(number) quantity_of_count(number).text
#define BYTES(number) quantity_of_bytes((double) (number)).text

static void put_share(uint64_t part, uint64_t whole, FILE *out)
{
    if (whole == 0)
        fprintf(out, "%12s", "-");
    else
        fprintf(out, "%10.1f %%", 100.0 * (double) part / (double) whole);
}

static void put_head(const struct reference_distances *distances, FILE *out)
{
    const struct reference_row *all = &distances->all;
    uint64_t known = reference_row_known(all);
    fprintf(out, "trace       %s\n", distances->path);
    fprintf(out, "objects     %s", COUNT(distances->objects));
    fprintf(out, ", of which %s existed when tracing began\n", COUNT(distances->existing));
    fprintf(out, "references  %s %s\n", COUNT(all->references),
            distances->is_snapshot ? "in the last snapshot" : "made by stores and copies");
    fprintf(out, "            %s between objects of one thread", COUNT(known - all->between));
    fprintf(out, ", %s of two", COUNT(all->between));
    fprintf(out, "; %s unknown: of an object\n", COUNT(all->unknown));
    fputs("            that existed before, or that no known thread allocated\n", out);
    fprintf(out, "neighbours  %s", COUNT(all->neighbours));
    if (known > 0)
        fprintf(out, " (%.1f %% of what is known)",
                100.0 * (double) all->neighbours / (double) known);
    fputs(": the thread allocated nothing between the two\n", out);
}

static void put_names(const struct reference_distances *distances, const struct reference_row *row,
                      FILE *out)
{
    const struct graph_source *source = &distances->opened.graph.source;
    struct keeper_name name;
    if (row->field != 0)
        keeper_name_field(source, row->field, &name);
    else
        keeper_name_class(source, row->array_class, &name);
    print_shown_text(name.text, out);
    fputs(" -> ", out);
    keeper_name_class(source, row->target_class, &name);
    print_shown_text(name.text, out);
    putc('\n', out);
}

static void put_distance(const struct lifetimes *distance, double share, FILE *out)
{
    fprintf(out, " %12s", distance->count > 0 ? BYTES(lifetimes_percentile(distance, share)) : "-");
}

static void put_fields(const struct reference_distances *distances, uint64_t top, FILE *out)
{
    size_t shown = table_shown(top, distances->count);
    fprintf(out, "\n%12s %12s %12s %12s %12s %12s  %s\n", "references", "unknown", "one thread",
            "neighbours", "half", "90 %", "field or array -> class");
    for (size_t i = 0; i < shown; i++) {
        const struct reference_row *row = &distances->rows[i];
        uint64_t known = reference_row_known(row);
        fprintf(out, "%12s ", COUNT(row->references));
        fprintf(out, "%12s ", COUNT(row->unknown));
        put_share(known - row->between, known, out);
        putc(' ', out);
        put_share(row->neighbours, known, out);
        put_distance(&row->distance, 0.5, out);
        put_distance(&row->distance, 0.9, out);
        fputs("  ", out);
        put_names(distances, row, out);
    }
    table_print_rest(shown, distances->count, "rows");
}

/* In the order of the references. */
static void put_candidates(const struct reference_distances *distances, uint64_t top, FILE *out)
{
    size_t count = 0;
    for (size_t i = 0; i < distances->count; i++)
        count += is_candidate(&distances->rows[i]);
    size_t shown = table_shown(top, count), put = 0;
    fprintf(
        out,
        "\nCandidates for co-allocation: at least %u references, and %.0f %% of what is known,\n"
        "are to a neighbour.\n",
        CANDIDATE_LEAST, 100 * CANDIDATE_SHARE);
    if (count > 0)
        fprintf(out, "%12s %12s  %s\n", "neighbours", "bytes", "field or array -> class");
    for (size_t i = 0; put < shown; i++) {
        const struct reference_row *row = &distances->rows[i];
        if (!is_candidate(row))
            continue;
        put++;
        fprintf(out, "%12s ", COUNT(row->neighbours));
        fprintf(out, "%12s  ", BYTES(row->neighbour_bytes));
        put_names(distances, row, out);
    }
    table_print_rest(shown, count, "candidates");
    if (count == 0)
        fputs("(none)\n", out);
}

void locality_print_text(const struct reference_distances *distances, uint64_t top, FILE *out)
{
    put_head(distances, out);
    put_fields(distances, top, out);
    put_candidates(distances, top, out);
}
