/* SPDX-License-Identifier: Apache-2.0 */
/* The figures of a watched trace as amounts: of all its objects, or of what its samples stand for.
 */
#include "analyses/watch/watch_view.h"
#include "converter/cli/report_table.h"
#include "converter/numbers/sample_totals.h"

#include <stdio.h>

/* What the figures of a row, or of all rows, are made of. */
struct watch_numbers {
    const struct watch_model *model;
    const struct watch_sums *sums;
    const struct watch_estimates *estimates;
};

static const struct watch_sums *sums_of(const void *numbers)
{
    return ((const struct watch_numbers *) numbers)->sums;
}

/* Returns the sums if the trace is sampled, else NULL. */
static const struct sample_sums *samples_of(const struct watch_numbers *numbers,
                                            const struct sample_sums *sums)
{
    return watch_model_is_sampled(numbers->model) ? sums : NULL;
}

/* Of a sampled trace deaths may not be known yet. */
static struct amount of_deaths(const struct watch_numbers *numbers, struct amount amount)
{
    return watch_model_is_sampled(numbers->model) && !watch_model_knows_deaths(numbers->model)
               ? amount_none(amount.unit)
               : amount;
}

static struct amount watch_samples(const void *user)
{
    const struct watch_numbers *numbers = user;
    return amount_exact(numbers->estimates->allocated.samples, AMOUNT_OBJECTS);
}

static struct amount watch_allocated_objects(const void *user)
{
    const struct watch_numbers *numbers = user;
    return amount_of_objects(numbers->sums->objects,
                             samples_of(numbers, &numbers->estimates->allocated));
}

static struct amount watch_allocated_bytes(const void *user)
{
    const struct watch_numbers *numbers = user;
    return amount_of_bytes(numbers->sums->bytes,
                           samples_of(numbers, &numbers->estimates->allocated));
}

static struct amount watch_existing_objects(const void *numbers)
{
    return amount_exact(sums_of(numbers)->existing_objects, AMOUNT_OBJECTS);
}

static struct amount watch_existing_bytes(const void *numbers)
{
    return amount_exact(sums_of(numbers)->existing_bytes, AMOUNT_BYTES);
}

static struct amount watch_freed_samples(const void *user)
{
    const struct watch_numbers *numbers = user;
    return of_deaths(numbers, amount_exact(numbers->estimates->freed.samples, AMOUNT_OBJECTS));
}

static struct amount watch_freed_objects(const void *user)
{
    const struct watch_numbers *numbers = user;
    return of_deaths(numbers, amount_of_objects(numbers->sums->freed_objects,
                                                samples_of(numbers, &numbers->estimates->freed)));
}

static struct amount watch_freed_bytes(const void *user)
{
    const struct watch_numbers *numbers = user;
    return of_deaths(numbers, amount_of_bytes(numbers->sums->freed_bytes,
                                              samples_of(numbers, &numbers->estimates->freed)));
}

static struct amount watch_objects_alive(const void *user)
{
    const struct watch_numbers *numbers = user;
    const struct sample_sums live = watch_estimates_live(numbers->model, numbers->estimates);
    return of_deaths(
        numbers, amount_of_objects(watch_live_objects(numbers->sums), samples_of(numbers, &live)));
}

static struct amount watch_bytes_alive(const void *user)
{
    const struct watch_numbers *numbers = user;
    const struct sample_sums live = watch_estimates_live(numbers->model, numbers->estimates);
    return of_deaths(numbers,
                     amount_of_bytes(watch_live_bytes(numbers->sums), samples_of(numbers, &live)));
}

static struct amount watch_calls(const void *numbers)
{
    return amount_exact(sums_of(numbers)->calls, AMOUNT_OBJECTS);
}

/* ---- JSON ---- */

#define IN_JSON(name, places, value_of)                                                            \
    {                                                                                              \
        name, NULL, 0, REPORT_DIGITS, places, .value = value_of                                    \
    }

static const struct report_column sum_columns[] = {
    IN_JSON("samples", REPORT_SAMPLED_JSON, watch_samples),
    IN_JSON("allocated_objects", REPORT_BOTH_JSONS, watch_allocated_objects),
    IN_JSON("allocated_bytes", REPORT_BOTH_JSONS, watch_allocated_bytes),
    IN_JSON("existing_objects", REPORT_JSON, watch_existing_objects),
    IN_JSON("existing_bytes", REPORT_JSON, watch_existing_bytes),
    IN_JSON("freed_samples", REPORT_SAMPLED_JSON, watch_freed_samples),
    IN_JSON("freed_objects", REPORT_BOTH_JSONS, watch_freed_objects),
    IN_JSON("freed_bytes", REPORT_BOTH_JSONS, watch_freed_bytes),
    IN_JSON("live_objects", REPORT_BOTH_JSONS, watch_objects_alive),
    IN_JSON("live_bytes", REPORT_BOTH_JSONS, watch_bytes_alive),
    IN_JSON("calls", REPORT_JSON, watch_calls),
};

void watch_put_sums(const struct watch_model *model, const struct watch_sums *sums,
                    const struct watch_estimates *estimates, struct json_output *json)
{
    const struct watch_numbers numbers = {.model = model, .sums = sums, .estimates = estimates};
    const struct report_table table = {
        .columns = sum_columns,
        .count = sizeof sum_columns / sizeof sum_columns[0],
        .sampling = watch_model_is_sampled(model) ? model->weights.sampling : NULL};
    report_table_put_row(&table, &numbers, json);
}

/* Of a completed trace, over its whole duration; otherwise between the last two looks. */
static struct sample_sums samples_for_rates(const struct watch_view *view)
{
    const struct sample_sums *allocated = &view->estimates.allocated;
    return view->feed->tail.state == WATCH_RUNNING
               ? sample_sums_without(allocated, &view->estimates_before.allocated)
               : *allocated;
}

static void put_sampled_rates(const struct watch_view *view, double seconds,
                              struct json_output *json)
{
    const struct sample_sums samples = samples_for_rates(view);
    const struct amount objects = amount_times(amount_of_objects(0, &samples), 1 / seconds),
                        bytes = amount_times(amount_of_bytes(0, &samples), 1 / seconds);
    json_number(json, "samples", samples.samples);
    amount_put_json(&objects, "allocated_objects", json);
    amount_put_json(&bytes, "allocated_bytes", json);
}

void watch_put_rates(const struct watch_view *view, struct json_output *json)
{
    const struct watch_rates rates = watch_view_rates(view);
    if (rates.seconds <= 0)
        return;
    json_begin_object(json, "a_second");
    json_real(json, "seconds", rates.seconds);
    if (watch_feed_is_sampled(view->feed)) {
        put_sampled_rates(view, rates.seconds, json);
    } else {
        json_real(json, "allocated_bytes", rates.bytes);
        json_real(json, "allocated_objects", rates.objects);
        json_real(json, "freed_objects", rates.freed_objects);
        json_real(json, "calls", rates.calls);
    }
    json_end_object(json);
}

/* ---- the screen of a sampled trace ---- */

static void put_live(const struct watch_view *view, const char *about, char *line)
{
    const struct watch_numbers numbers = {
        .model = &view->feed->model, .sums = &view->total, .estimates = &view->estimates};
    const struct amount objects = watch_objects_alive(&numbers),
                        bytes = watch_bytes_alive(&numbers);
    char text[AMOUNT_PAIR_TEXT];
    if (objects.state == AMOUNT_NONE) {
        snprintf(line, WATCH_SAMPLED_TEXT,
                 "live - (objects were given up, live=: known when all is read after the end)");
        return;
    }
    amount_pair_text(&objects, &bytes, text);
    snprintf(line, WATCH_SAMPLED_TEXT, "live %s%s", about, text);
}

static void put_rates(const struct watch_view *view, char *line)
{
    double seconds = watch_view_rates(view).seconds;
    const struct sample_sums samples = samples_for_rates(view);
    char text[AMOUNT_PAIR_TEXT] = "-";
    if (seconds > 0) {
        const struct amount objects = amount_times(amount_of_objects(0, &samples), 1 / seconds),
                            bytes = amount_times(amount_of_bytes(0, &samples), 1 / seconds);
        amount_pair_text(&objects, &bytes, text);
    }
    snprintf(line, WATCH_SAMPLED_TEXT, "a second: %s", text);
}

void watch_sampled_lines(const struct watch_view *view,
                         char lines[WATCH_SAMPLED_LINES][WATCH_SAMPLED_TEXT])
{
    const struct watch_feed *feed = view->feed;
    const struct watch_numbers numbers = {
        .model = &feed->model, .sums = &view->total, .estimates = &view->estimates};
    const struct amount objects = watch_allocated_objects(&numbers),
                        bytes = watch_allocated_bytes(&numbers);
    bool is_exact = watch_feed_is_exact(feed);
    char text[AMOUNT_PAIR_TEXT], read[64] = "";
    if (!is_exact)
        snprintf(read, sizeof read, "  read: %.0f %%", 100 * watch_feed_progress(feed));
    estimate_source_text(view->estimates.allocated.samples, feed->model.weights.sampling, lines[0]);
    put_live(view, is_exact ? "" : "~", lines[1]);
    amount_pair_text(&objects, &bytes, text);
    snprintf(lines[2], WATCH_SAMPLED_TEXT, "allocated %s%s", text, read);
    put_rates(view, lines[3]);
}

/* ---- rows ---- */

void watch_sampled_note_class(struct watch_line *line, enum watch_axis axis, const char *name,
                              size_t length)
{
    struct watch_estimates *estimates = &line->estimates;
    struct step_bytes class = {(const uint8_t *) name, axis == WATCH_CLASSES ? length : 0};
    estimates->allocated = sample_sums_of_class(estimates->allocated, class);
    estimates->freed = sample_sums_of_class(estimates->freed, class);
    estimates->live = sample_sums_of_class(estimates->live, class);
}

static struct amount amount_in(const struct watch_numbers *numbers, enum watch_column column)
{
    switch (column) {
    case WATCH_LIVE_BYTES:
        return watch_bytes_alive(numbers);
    case WATCH_LIVE_OBJECTS:
        return watch_objects_alive(numbers);
    case WATCH_BYTES:
        return watch_allocated_bytes(numbers);
    default:
        return watch_allocated_objects(numbers);
    }
}

struct watch_sampled_cell watch_sampled_cell_of(const struct watch_model *model,
                                                const struct watch_line *line,
                                                enum watch_column column)
{
    const struct watch_numbers numbers = {
        .model = model, .sums = &line->now, .estimates = &line->estimates};
    const struct amount amount = amount_in(&numbers, column);
    bool is_scaled = amount.unit == AMOUNT_BYTES;
    const struct amount_range range = amount_range_of(&amount, is_scaled);
    struct watch_sampled_cell cell = {"-"};
    if (range.text[0] != '-')
        snprintf(cell.text, sizeof cell.text, "%s %s",
                 (is_scaled ? amount_scaled : amount_digits)(&amount).text, range.text);
    return cell;
}
