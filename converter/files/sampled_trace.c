/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps sampled traces from commands that need all objects, and what is known of the others. */
#include "converter/files/sampled_trace.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "converter/cli/error_report.h"
#include "converter/containers/no_memory.h"
#include "converter/numbers/quantity.h"
#include "converter/numbers/trace_ticks.h"

#define INTERVAL_MOST (UINT64_C(1) << 30)
#define REPEATS_UNIT 1e9 /* agent/events/draw_repeats.c */
/* The first JDK whose sampler takes what is allocated outside of TLABs off the distance to the next
 * sample (JDK-8356372). */
#define UNBIASED_JDK 25u
#define VERSION_ROOM 40u /* of a version, as much as is shown */

static bool is_sampled(const char *engine)
{
    return engine != NULL && strcmp(engine, "sampled") == 0;
}

uint64_t sampled_interval_bytes(const char *engine, const char *sample)
{
    if (!is_sampled(engine) || sample == NULL || sample[0] < '0' || sample[0] > '9')
        return 0;
    char *end;
    unsigned long long interval = strtoull(sample, &end, 10);
    return *end == '\0' && interval <= INTERVAL_MOST ? interval : 0;
}

/* ---- what has to be said of a trace ---- */

/* Of each trace that was opened, until the process ends. */
struct sampled_note {
    struct sampled_note *next;
    char *path;
    char version[VERSION_ROOM]; /* of a JVM that samples with a bias; empty: of none */
    const char *totals;         /* what exact totals make of the bias; NULL: there are none */
    uint64_t pauses_ns, span_ns;
    struct sampling sampling;
};

static struct sampled_note *notes;
static pthread_mutex_t notes_lock = PTHREAD_MUTEX_INITIALIZER;
static bool are_told;

void sampled_traces_tell(void)
{
    are_told = true;
}

static struct sampled_note *find_note(const char *path)
{
    struct sampled_note *note = notes;
    while (note != NULL && strcmp(note->path, path) != 0)
        note = note->next;
    return note;
}

/* Of a trace from standard input, whose path is that of its copy, the last one. */
static struct sampled_note *find_known(const char *path)
{
    struct sampled_note *found = find_note(path);
    return found == NULL && strcmp(path, "-") == 0 ? notes : found;
}

/* Copies the note of a trace. */
static struct sampled_note note_of(const char *path)
{
    pthread_mutex_lock(&notes_lock);
    const struct sampled_note *found = find_known(path);
    struct sampled_note note = found != NULL ? *found : (struct sampled_note){.next = NULL};
    pthread_mutex_unlock(&notes_lock);
    return note;
}

const char *sampled_trace_bias(const char *path, char text[SAMPLED_NOTE_ROOM])
{
    const struct sampled_note note = note_of(path);
    if (note.version[0] == '\0')
        return NULL;
    snprintf(text, SAMPLED_NOTE_ROOM,
             "its JVM (%s) samples with a bias: where a thread allocates large and small objects, "
             "estimates were up to 9 times too high or 30 %% too low, so ranges are no 95 %% "
             "intervals (JDK-8356372; JDK %u and later do not)%s",
             note.version, UNBIASED_JDK, note.totals != NULL ? note.totals : "");
    return text;
}

const char *sampled_trace_pauses(const char *path, char text[SAMPLED_NOTE_ROOM])
{
    const struct sampled_note note = note_of(path);
    if (note.pauses_ns == 0)
        return NULL;
    int at = snprintf(text, SAMPLED_NOTE_ROOM, "not recorded: %s",
                      quantity_of_ns((double) note.pauses_ns).text);
    if (note.span_ns > 0)
        at += snprintf(text + at, SAMPLED_NOTE_ROOM - (size_t) at, " of %s",
                       quantity_of_ns((double) note.span_ns).text);
    snprintf(text + at, SAMPLED_NOTE_ROOM - (size_t) at,
             " between the files; allocations in this time are missing from all numbers");
    return text;
}

void sampled_trace_put_json(struct json_output *json, const char *path, uint64_t interval_bytes)
{
    char text[SAMPLED_NOTE_ROOM];
    const char *bias = sampled_trace_bias(path, text);
    json_bool(json, "estimated", true);
    json_number(json, "sample_interval_bytes", interval_bytes);
    json_bool(json, "interval_valid", bias == NULL);
    if (bias != NULL)
        json_text(json, "interval_fault", bias);
    json_number(json, "not_recorded_ns", note_of(path).pauses_ns);
}

static void sampled_trace_tell(const char *path)
{
    char text[SAMPLED_NOTE_ROOM];
    const char *shown = report_name(path);
    const char *bias = sampled_trace_bias(path, text);
    if (bias != NULL)
        report_line("%s: %s", shown, bias);
    const char *pauses = sampled_trace_pauses(path, text);
    if (pauses != NULL)
        report_line("%s: %s", shown, pauses);
}

static bool is_biased(const char *version)
{
    unsigned long number = version != NULL ? strtoul(version, NULL, 10) : 0;
    return number > 0 && number < UNBIASED_JDK;
}

/* Copies what is in versions, as much as there is room for: the text is a trace's. */
static void copy_version(const char *version, char text[VERSION_ROOM])
{
    size_t length = strspn(version, "0123456789.+-_abcdefghijklmnopqrstuvwxyz"
                                    "ABCDEFGHIJKLMNOPQRSTUVWXYZ");
    snprintf(text, VERSION_ROOM, "%.*s", (int) (length < VERSION_ROOM ? length : VERSION_ROOM),
             version);
}

/* Returns the note of a trace, a new one if it has none; NULL: out of memory.  Locked. */
static struct sampled_note *make_note(const char *path)
{
    struct sampled_note *note = calloc(1, sizeof *note);
    char *copy = strdup(path);
    if (note == NULL || copy == NULL) {
        free(note);
        free(copy);
        return NULL;
    }
    note->path = copy;
    note->next = notes;
    notes = note;
    return note;
}

struct sampling *sampled_trace_sampling(const char *path)
{
    pthread_mutex_lock(&notes_lock);
    struct sampled_note *note = find_known(path);
    if (note == NULL)
        note = make_note(path);
    pthread_mutex_unlock(&notes_lock);
    return note != NULL ? &note->sampling : NULL;
}

/* Sets the share, which is not known of a trace that has no end. */
static enum step_status find_repeats(const struct step_reader *reader, const char *path,
                                     double *repeated, struct step_error *error)
{
    const char *text = step_reader_property(reader, "sample-repeats");
    char *end;
    *repeated = -1;
    if (text == NULL)
        return STEP_STATUS_OK;
    unsigned long long share = strtoull(text, &end, 10);
    if (text[0] < '0' || text[0] > '9' || *end != '\0' || share > (unsigned long long) REPEATS_UNIT)
        return step_error_set(error, STEP_STATUS_CORRUPT, path, STEP_NO_OFFSET,
                              "its property sample-repeats is not a number from 0 to 1000000000");
    *repeated = (double) share / REPEATS_UNIT;
    return STEP_STATUS_OK;
}

static const char *text_of_totals(const char *totals)
{
    if (totals != NULL && strcmp(totals, "walk") == 0)
        return "; totals=walk makes the sums of classes right, but not how sites, threads and "
               "deaths share them";
    if (totals != NULL && strcmp(totals, "threads") == 0)
        return "; totals=threads makes the sum of all bytes right, but not how classes share it";
    return NULL;
}

/* A trace that is opened anew may say more: its process has ended it meanwhile. */
static void fill_note(struct sampled_note *note, const struct step_reader *reader, double repeated)
{
    const char *version = step_reader_property(reader, "java-vm-version");
    note->pauses_ns = trace_number(step_reader_property(reader, "file-set-pauses-ns"), 0);
    note->span_ns = trace_number(step_reader_property(reader, "file-set-span-ns"), 0);
    note->sampling = (struct sampling){
        .interval_bytes = sampled_interval_bytes("sampled", step_reader_property(reader, "sample")),
        .repeated = repeated,
        .is_biased = is_biased(version)};
    note->totals = text_of_totals(step_reader_property(reader, "totals"));
    if (is_biased(version))
        copy_version(version, note->version);
}

/* Notes a trace that was opened, and says what has to be said if it is the first time. */
static enum step_status take_note(const struct step_reader *reader, const char *path,
                                  struct step_error *error)
{
    double repeated;
    enum step_status status = find_repeats(reader, path, &repeated, error);
    if (status != STEP_STATUS_OK)
        return status;
    pthread_mutex_lock(&notes_lock);
    struct sampled_note *note = find_note(path);
    bool is_new = note == NULL;
    if (is_new)
        note = make_note(path);
    if (note != NULL)
        fill_note(note, reader, repeated);
    pthread_mutex_unlock(&notes_lock);
    if (note == NULL)
        return no_memory(error);
    if (is_new && are_told)
        sampled_trace_tell(path);
    return STEP_STATUS_OK;
}

/* ---- opening ---- */

static enum step_status check_interval(const struct step_reader *reader, const char *path,
                                       struct step_error *error)
{
    if (!is_sampled(step_reader_property(reader, "engine")) ||
        sampled_interval_bytes("sampled", step_reader_property(reader, "sample")) != 0)
        return STEP_STATUS_OK;
    return step_error_set(error, STEP_STATUS_CORRUPT, path, STEP_NO_OFFSET,
                          "its property engine is 'sampled', but its property sample is not a "
                          "number of bytes from 1 to 1073741824");
}

enum step_status sampled_trace_admit(const struct step_reader *reader, const char *path,
                                     const char *needs_all, struct step_error *error)
{
    enum step_status status = check_interval(reader, path, error);
    if (status != STEP_STATUS_OK || !is_sampled(step_reader_property(reader, "engine")))
        return status;
    if (needs_all == NULL)
        return take_note(reader, path, error);
    return step_error_set(error, STEP_STATUS_CORRUPT, path, STEP_NO_OFFSET,
                          "it has a sample of the objects (engine=sampled), and %s needs all of "
                          "them; docs/engine-sampled.md lists the commands that can read it",
                          needs_all);
}
