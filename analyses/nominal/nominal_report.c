/* SPDX-License-Identifier: Apache-2.0 */
/* Computes the statistics as the suite does (in integers, rounded down), and how exact each is, and
 * writes them as the suite's YAML and as JSON. */
#include <inttypes.h>

#include "analyses/nominal/nominal.h"
#include "converter/cli/error_report.h"
#include "converter/numbers/quantity.h"
#include "format/json/json_output.h"

enum nominal_mark {
    NOMINAL_EXACT,
    NOMINAL_AT_LEAST, /* a lower bound */
    NOMINAL_AT_MOST,  /* an upper bound */
    NOMINAL_ESTIMATE,
    NOMINAL_UNKNOWN
};

enum nominal_key {
    NOMINAL_ALD,
    NOMINAL_AOA,
    NOMINAL_AOL,
    NOMINAL_AOM,
    NOMINAL_AOS,
    NOMINAL_ARA,
    NOMINAL_BAS,
    NOMINAL_BUF,
    NOMINAL_GLK,
    NOMINAL_GMD,
    NOMINAL_GMU,
    NOMINAL_GTO,
    NOMINAL_KEY_COUNT
};

struct nominal_value {
    uint64_t value;
    enum nominal_mark mark;
    const char *reason; /* "" for an exact value without one */
};

static const char incomplete[] = "a part of the trace is missing";

static struct nominal_value marked(uint64_t value, enum nominal_mark mark, const char *reason)
{
    return (struct nominal_value){.value = value, .mark = mark, .reason = reason};
}

static struct nominal_value unknown(const char *reason)
{
    return marked(0, NOMINAL_UNKNOWN, reason);
}

/* A value that is exact if the trace is complete. */
static struct nominal_value exact(const struct nominal *nominal, uint64_t value)
{
    return nominal->is_incomplete ? marked(value, NOMINAL_ESTIMATE, incomplete)
                                  : marked(value, NOMINAL_EXACT, "");
}

/* ---- sizes ---- */

/* Returns the least size that at least `tenths` tenths of the objects do not exceed. */
static struct nominal_value size_percentile(const struct nominal *nominal, uint64_t tenths)
{
    uint64_t below = 0, wanted = (nominal->objects / 10) * tenths;
    wanted += ((nominal->objects % 10) * tenths + 9) / 10;
    for (uint64_t size = 0; size < NOMINAL_SIZES; size++) {
        below += nominal->sizes[size];
        if (below >= wanted && below > 0)
            return exact(nominal, size);
    }
    double share = (double) (wanted - below) / (double) nominal->larger.count;
    return marked((uint64_t) lifetimes_percentile(&nominal->larger, share), NOMINAL_ESTIMATE,
                  "within 1.6 %, as sizes of 64 KiB and more are in a histogram");
}

/* ---- rates ---- */

/* Returns the time in microseconds in which the counted allocations happened; 0: not known. */
static double span_us(const struct nominal *nominal, uint64_t *parts)
{
    *parts = nominal->options.phases.count > 0 ? nominal->phase_count : 1;
    if (nominal->options.run_ns != 0)
        return (double) nominal->options.run_ns / 1e3 * (double) *parts;
    if (nominal->unit == TIME_STEPS || nominal->has_other_phases)
        return 0;
    if (nominal->options.phases.count > 0)
        return (double) nominal->phase_ns / 1e3;
    return nominal->last_ns > nominal->first_ns
               ? (double) (nominal->last_ns - nominal->first_ns) / 1e3
               : 0;
}

static struct nominal_value no_span(const struct nominal *nominal)
{
    return unknown(nominal->has_other_phases ? "phases of threads, or open ones, have no one time"
                   : nominal->options.phases.count > 0 && nominal->phase_count == 0
                       ? "no phase of the program has this name"
                       : "the trace has no times");
}

static struct nominal_value allocation_rate(const struct nominal *nominal)
{
    uint64_t parts;
    double us = span_us(nominal, &parts);
    if (us <= 0)
        return no_span(nominal);
    uint64_t rate = (uint64_t) ((double) nominal->bytes / us);
    if (nominal->options.run_ns != 0)
        return exact(nominal, rate);
    return marked(rate, NOMINAL_AT_LEAST,
                  "the time is that of the traced run, which the agent slows down (--run-time)");
}

static struct nominal_value array_store_rate(const struct nominal *nominal)
{
    uint64_t parts;
    double us = span_us(nominal, &parts);
    if (!nominal->has_array_stores)
        return unknown("the trace has no stores of references (events=reference)");
    if (nominal->options.phases.count > 0)
        return unknown("stores are counted in the whole trace, not in phases");
    if (us <= 0)
        return no_span(nominal);
    return marked((uint64_t) ((double) nominal->array_stores / us), NOMINAL_ESTIMATE,
                  nominal->options.run_ns != 0
                      ? "handles and initialisers store elements without an aastore, too"
                      : "the time is that of the traced run; handles and initialisers store "
                        "elements without an aastore, too");
}

static struct nominal_value call_sites(const struct nominal *nominal)
{
    if (nominal->call_sites == 0)
        return unknown("the trace has no call stacks (stack=N)");
    if (nominal->options.phases.count > 0)
        return unknown("call stacks are counted in the whole trace, not in phases");
    return marked(nominal->call_sites / 1000, NOMINAL_AT_LEAST,
                  "only calls on the stacks of allocations, and one for each line");
}

/* ---- heaps ---- */

enum heap_deaths { DEATHS_NONE, DEATHS_EXACT, DEATHS_EARLY, DEATHS_LATE, DEATHS_MIXED };

static enum heap_deaths deaths_of(const struct nominal *nominal)
{
    const struct death_dates *deaths = &nominal->deaths;
    bool is_late = deaths->by_collection > 0 || (deaths->freed > 0 && !nominal->is_native);
    if (deaths->exact + deaths->bound + deaths->by_collection + deaths->freed == 0)
        return nominal->is_native ? DEATHS_EXACT : DEATHS_NONE; /* it never freed */
    if (is_late)
        return deaths->bound > 0 ? DEATHS_MIXED : DEATHS_LATE;
    return deaths->bound > 0 ? DEATHS_EARLY : DEATHS_EXACT;
}

static const char early_reason[] = "objects were live at least until their deaths in the trace, "
                                   "and a collector needs room beside them";
static const char late_reason[] = "for a collector without overhead: deaths are those that "
                                  "collections found (steptrace deaths)";

/* `least` and `most`: the live bytes, times a factor for another size of pointers. */
static struct nominal_value heap_of(const struct nominal *nominal, double least, double most)
{
    double mib = 1024.0 * 1024.0, peak = (double) nominal->peak;
    double low = peak * least / mib, high = peak * most / mib;
    uint64_t low_mb = (uint64_t) low + (low > (double) (uint64_t) low);
    uint64_t high_mb = (uint64_t) high + (high > (double) (uint64_t) high);
    if (nominal->is_incomplete)
        return marked(low_mb, NOMINAL_ESTIMATE, incomplete);
    switch (deaths_of(nominal)) {
    case DEATHS_EXACT:
        return marked(low_mb, NOMINAL_AT_LEAST, "live at one time; a collector needs room beside");
    case DEATHS_EARLY:
        return marked(low_mb, NOMINAL_AT_LEAST, early_reason);
    case DEATHS_LATE:
        if (nominal->lacks_existing)
            return marked(high_mb, NOMINAL_ESTIMATE, "without objects from before the trace");
        return marked(high_mb, NOMINAL_AT_MOST, late_reason);
    case DEATHS_MIXED:
        return marked(low_mb, NOMINAL_ESTIMATE, "some deaths are too early, some too late");
    case DEATHS_NONE:
        break;
    }
    return unknown("the trace has no deaths (events=free)");
}

/* Without compressed pointers no object is smaller, and none is more than twice as large. */
static struct nominal_value heap_compressed(const struct nominal *nominal)
{
    return nominal->is_uncompressed ? heap_of(nominal, 0.5, 1) : heap_of(nominal, 1, 1);
}

static struct nominal_value heap_uncompressed(const struct nominal *nominal)
{
    if (nominal->is_native)
        return unknown("a native program has no compressed pointers");
    return nominal->is_uncompressed ? heap_of(nominal, 1, 1) : heap_of(nominal, 1, 2);
}

static struct nominal_value turnover(const struct nominal *nominal)
{
    uint64_t parts = nominal->options.phases.count > 0 ? nominal->phase_count : 1;
    uint64_t heap = nominal->options.heap_bytes;
    if (parts == 0)
        return no_span(nominal);
    if (heap != 0)
        return exact(nominal, nominal->bytes / parts / heap);
    struct nominal_value least = heap_compressed(nominal);
    if (least.mark == NOMINAL_UNKNOWN)
        return least;
    if (least.value == 0)
        return unknown("nothing was live");
    uint64_t value = nominal->bytes / parts / (least.value << 20);
    switch (least.mark) {
    case NOMINAL_AT_LEAST:
        return marked(value, NOMINAL_AT_MOST, "GMD is a lower bound (--min-heap)");
    case NOMINAL_AT_MOST:
        return marked(value, NOMINAL_AT_LEAST,
                      "for a collector without overhead, as GMD is (--min-heap)");
    default:
        return marked(value, NOMINAL_ESTIMATE, least.reason);
    }
}

static struct nominal_value leakage(const struct nominal *nominal)
{
    enum heap_deaths deaths = deaths_of(nominal);
    if (deaths == DEATHS_NONE)
        return unknown("the trace has no deaths (events=free)");
    if (nominal->iterations < NOMINAL_ITERATIONS)
        return unknown("the trace has no ten phases `warmup` and `measure` of the program");
    if (nominal->peak_first == 0)
        return unknown("nothing was live");
    double ratio = (double) nominal->peak_tenth / (double) nominal->peak_first;
    const char *reason = deaths == DEATHS_EXACT || deaths == DEATHS_EARLY
                             ? "of the most live bytes, not of measured minimum heaps"
                             : "of the most live bytes, and deaths are those that collections "
                               "found (steptrace deaths)";
    return marked((uint64_t) (100 * (ratio - 1)), NOMINAL_ESTIMATE, reason);
}

/* ---- lifetimes ---- */

static struct nominal_value lifetime_dispersion(const struct nominal *nominal)
{
    struct dispersion_result result;
    enum heap_deaths deaths = deaths_of(nominal);
    if (deaths == DEATHS_NONE)
        return unknown("the trace has no deaths (events=free)");
    if (!dispersion_compute(&nominal->dispersion, &result))
        return unknown("out of memory");
    /* The sums of floating point numbers are not exact, but their error is far smaller. */
    uint64_t low = (uint64_t) (100 * result.least + 1e-9);
    uint64_t high = (uint64_t) (100 * result.most + 1e-9);
    if (nominal->is_incomplete)
        return marked(low, NOMINAL_ESTIMATE, incomplete);
    if (deaths == DEATHS_LATE || deaths == DEATHS_MIXED)
        return marked(low, NOMINAL_ESTIMATE,
                      "deaths are those that collections found (steptrace deaths)");
    if (nominal->dispersion.has_bounds)
        return marked(low, NOMINAL_AT_LEAST, "some objects lived to the end or longer than known");
    if (low != high)
        return marked(low, NOMINAL_AT_LEAST, "lifetimes are in a histogram, within 1.6 %");
    return exact(nominal, low);
}

/* ---- all ---- */

static void nominal_values(const struct nominal *nominal,
                           struct nominal_value values[NOMINAL_KEY_COUNT])
{
    if (nominal->objects == 0) {
        for (int i = 0; i < NOMINAL_KEY_COUNT; i++)
            values[i] = unknown(nominal->is_incomplete ? incomplete
                                : nominal->options.phases.count > 0
                                    ? "no allocations are counted"
                                    : "the trace has no allocations (events=alloc)");
        return;
    }
    values[NOMINAL_ALD] = lifetime_dispersion(nominal);
    values[NOMINAL_AOA] = exact(nominal, nominal->bytes / nominal->objects);
    values[NOMINAL_AOL] = size_percentile(nominal, 9);
    values[NOMINAL_AOM] = size_percentile(nominal, 5);
    values[NOMINAL_AOS] = size_percentile(nominal, 1);
    values[NOMINAL_ARA] = allocation_rate(nominal);
    values[NOMINAL_BAS] = array_store_rate(nominal);
    values[NOMINAL_BUF] = call_sites(nominal);
    values[NOMINAL_GLK] = leakage(nominal);
    values[NOMINAL_GMD] = heap_compressed(nominal);
    values[NOMINAL_GMU] = heap_uncompressed(nominal);
    values[NOMINAL_GTO] = turnover(nominal);
}

static const struct {
    const char *key, *description;
} rows[NOMINAL_KEY_COUNT] = {
    [NOMINAL_ALD] = {"ALD", "lifetime dispersion (percent, Gini coefficient)"},
    [NOMINAL_AOA] = {"AOA", "average object size (bytes)"},
    [NOMINAL_AOL] = {"AOL", "90-percentile object size (bytes)"},
    [NOMINAL_AOM] = {"AOM", "median object size (bytes)"},
    [NOMINAL_AOS] = {"AOS", "10-percentile object size (bytes)"},
    [NOMINAL_ARA] = {"ARA", "allocation rate (bytes / usec)"},
    [NOMINAL_BAS] = {"BAS", "aastore per usec"},
    [NOMINAL_BUF] = {"BUF", "thousands of unique function calls"},
    [NOMINAL_GLK] = {"GLK", "percent 10th iteration memory leakage"},
    [NOMINAL_GMD] = {"GMD", "minimum heap size (MB), with compressed pointers"},
    [NOMINAL_GMU] = {"GMU", "minimum heap size (MB), without compressed pointers"},
    [NOMINAL_GTO] = {"GTO", "memory turnover (total alloc bytes / min heap bytes)"},
};

static const char *const marks[] = {[NOMINAL_EXACT] = "exact",
                                    [NOMINAL_AT_LEAST] = "bound, at least",
                                    [NOMINAL_AT_MOST] = "bound, at most",
                                    [NOMINAL_ESTIMATE] = "estimate",
                                    [NOMINAL_UNKNOWN] = "unknown"};

void nominal_print_yaml(const struct nominal *nominal)
{
    struct nominal_value values[NOMINAL_KEY_COUNT];
    nominal_values(nominal, values);
    fputs("# StepTrace, of ", stdout);
    print_shown_text(nominal->path, stdout);
    printf(": %" PRIu64 " objects, %" PRIu64 " bytes", nominal->objects, nominal->bytes);
    if (nominal->options.phases.count > 0)
        printf(", in %" PRIu64 " phase%s", nominal->phase_count, plural(nominal->phase_count));
    fputs("\n# key: [score/10, value, rank, min, median, max, description]\n", stdout);
    for (int i = 0; i < NOMINAL_KEY_COUNT; i++) {
        const struct nominal_value *value = &values[i];
        printf("%s: [null, ", rows[i].key);
        if (value->mark == NOMINAL_UNKNOWN)
            fputs("null", stdout);
        else
            printf("%" PRIu64, value->value);
        printf(", null, null, null, null, 'nominal %s; %s%s%s']\n", rows[i].description,
               marks[value->mark], *value->reason != '\0' ? ": " : "", value->reason);
    }
}

void nominal_print_json(const struct nominal *nominal)
{
    struct nominal_value values[NOMINAL_KEY_COUNT];
    struct json_output json;
    nominal_values(nominal, values);
    json_open(&json, stdout);
    json_text(&json, "trace", nominal->path);
    json_number(&json, "objects", nominal->objects);
    json_number(&json, "bytes", nominal->bytes);
    json_number(&json, "most_live_bytes", nominal->peak);
    json_number(&json, "iterations", nominal->iterations);
    death_dates_put_json(&nominal->deaths, nominal->unit, &json);
    json_begin_array(&json, "statistics");
    for (int i = 0; i < NOMINAL_KEY_COUNT; i++) {
        json_begin_object(&json, NULL);
        json_text(&json, "key", rows[i].key);
        if (values[i].mark == NOMINAL_UNKNOWN)
            json_null(&json, "value");
        else
            json_number(&json, "value", values[i].value);
        json_text(&json, "mark", marks[values[i].mark]);
        json_text(&json, "reason", values[i].reason);
        json_text(&json, "description", rows[i].description);
        json_end_object(&json);
    }
    json_end_array(&json);
    json_close(&json);
}
