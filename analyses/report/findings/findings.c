/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the sentences.  Each has a limit below which it says nothing. */
#include "analyses/report/findings/findings_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "converter/cli/error_report.h"
#include "converter/numbers/quantity.h"
#include "format/json/json_output.h"

const char *const finding_words[FINDING_KINDS] = {
    [FINDING_ALLOCATES] = "allocates", [FINDING_GROWS] = "grows", [FINDING_DIES] = "dies",
    [FINDING_HEAP] = "heap",           [FINDING_LACKS] = "lacks",
};

/* Limits. */
#define SHARE_LEAST 0.1                 /* of all bytes allocated */
#define BYTES_LEAST (UINT64_C(1) << 20) /* allocated, by a place or in all */
#define DEAD_SHARE_LEAST 0.95           /* of the bytes whose fate is known */
#define HEAP_TIMES_LEAST 2u /* a limit of the heap as large as what was enough is right */

/* ---- what allocates most, and what dies at once ---- */

/* Objects of a class from a line. */
struct place_life {
    uint32_t place, class_id;
    struct site_amount born, decided, old;
};

static void add_amount(struct site_amount *to, const struct site_amount *from)
{
    to->objects += from->objects;
    to->bytes += from->bytes;
}

static int findings_by_place(const void *left, const void *right)
{
    const struct place_life *a = left, *b = right;
    if (a->place != b->place)
        return a->place < b->place ? -1 : 1;
    return (a->class_id > b->class_id) - (a->class_id < b->class_id);
}

static size_t merge_places(struct place_life *places, size_t count)
{
    size_t kept = 0;
    qsort(places, count, sizeof *places, findings_by_place);
    for (size_t i = 1; i < count; i++) {
        if (findings_by_place(&places[kept], &places[i]) != 0) {
            places[++kept] = places[i];
            continue;
        }
        add_amount(&places[kept].born, &places[i].born);
        add_amount(&places[kept].decided, &places[i].decided);
        add_amount(&places[kept].old, &places[i].old);
    }
    return count > 0 ? kept + 1 : 0;
}

/* Returns NULL if memory runs out. */
static struct place_life *findings_find_places(const struct findings_pass *pass,
                                               struct heap_sites *names, size_t *count)
{
    static const struct cell_fate nothing;
    const struct heap_cells *cells = &pass->leaks.heap.cells;
    struct place_life *places = calloc(cells->count + 1, sizeof *places);
    for (size_t i = 0; places != NULL && i < cells->count; i++) {
        const struct heap_cell *cell = &cells->items[i];
        const struct cell_fate *fate = i < pass->fate_count ? &pass->fates[i] : &nothing;
        places[i] = (struct place_life){
            .place = findings_place_of(&pass->leaks.heap.sites, cell->key.site, names),
            .class_id = cell->key.class_id,
            .born = {cell->now.allocated_objects, cell->now.allocated_bytes},
            .decided = fate->decided,
            .old = fate->old};
    }
    *count = places != NULL ? merge_places(places, cells->count) : 0;
    return places;
}

static bool dies_at_once(const struct place_life *place)
{
    return 2 * place->decided.bytes >= place->born.bytes &&
           (double) (place->decided.bytes - place->old.bytes) >=
               DEAD_SHARE_LEAST * (double) place->decided.bytes;
}

static const struct place_life *largest(const struct place_life *places, size_t count,
                                        bool (*is_one)(const struct place_life *place))
{
    const struct place_life *most = NULL;
    for (size_t i = 0; i < count; i++)
        if ((is_one == NULL || is_one(&places[i])) &&
            (most == NULL || places[i].born.bytes > most->born.bytes))
            most = &places[i];
    return most;
}

static uint64_t allocated_bytes(const struct findings_pass *pass)
{
    return pass->leaks.heap.cells.all.allocated_bytes;
}

static double share_of(const struct place_life *place, const struct findings_pass *pass)
{
    return (double) place->born.bytes / (double) allocated_bytes(pass);
}

static bool is_large(const struct place_life *place, const struct findings_pass *pass)
{
    return place != NULL && place->born.bytes >= BYTES_LEAST &&
           share_of(place, pass) >= SHARE_LEAST;
}

static bool has_deaths(const struct findings_pass *pass)
{
    const struct death_dates *deaths = &pass->leaks.heap.deaths;
    return deaths->freed > 0 || death_dates_are_exact(deaths);
}

static void findings_name_place(const struct heap_sites *names, const struct place_life *place,
                                char class[NAME_TEXT], char at[NAME_TEXT])
{
    findings_put_class(trace_class_of(names->names, place->class_id)->name, class);
    findings_put_place(names, place->place, at);
}

static void find_allocated(const struct findings_pass *pass, const struct heap_sites *names,
                           const struct place_life *places, size_t count, struct findings *out)
{
    char class[NAME_TEXT], at[NAME_TEXT];
    const struct place_life *most = largest(places, count, NULL);
    if (!is_large(most, pass))
        return;
    findings_name_place(names, most, class, at);
    struct finding *finding = findings_add(out, FINDING_ALLOCATES);
    finding->options =
        most->place != 0 ? " --at=end --allocated --tree=bottom-up" : " --at=end --allocated";
    snprintf(finding->text, FINDING_TEXT,
             "Allocates most: %s%s, %s in %s object%s, %.0f %% of all bytes.", class, at,
             quantity_of_bytes((double) most->born.bytes).text,
             quantity_of_count(most->born.objects).text, plural(most->born.objects),
             100 * share_of(most, pass));
}

static void find_dead(const struct findings_pass *pass, const struct heap_sites *names,
                      const struct place_life *places, size_t count, struct findings *out)
{
    char class[NAME_TEXT], at[NAME_TEXT];
    const struct place_life *most = largest(places, count, dies_at_once);
    if (!has_deaths(pass) || pass->is_native || !pass->has_stacks || !is_large(most, pass))
        return;
    uint64_t dead = most->decided.objects - most->old.objects;
    findings_name_place(names, most, class, at);
    snprintf(findings_add(out, FINDING_DIES)->text, FINDING_TEXT,
             "Dies at once: %s%s, %.1f %% of %s object%s did not survive two collections; %s that "
             "could be avoided.",
             class, at, 100 * (double) dead / (double) most->decided.objects,
             quantity_of_count(most->decided.objects).text, plural(most->decided.objects),
             quantity_of_bytes((double) (most->decided.bytes - most->old.bytes)).text);
}

/* ---- what the trace lacks ---- */

struct gaps {
    char first[FINDING_TEXT / 2];
    size_t count;
};

static void note_gap(void *user, const char *sentence)
{
    struct gaps *gaps = user;
    if (gaps->count++ == 0)
        snprintf(gaps->first, sizeof gaps->first, "%s", sentence);
}

static struct gaps gaps_of(const struct findings_evidence *evidence)
{
    struct gaps gaps = {.count = 0};
    trace_gaps_each(evidence->source, evidence->not_probed, note_gap, &gaps);
    return gaps;
}

static void find_gaps(const struct findings_evidence *evidence, struct findings *out)
{
    struct gaps gaps = gaps_of(evidence);
    const struct findings_pass *pass = evidence->pass;
    if (pass != NULL && pass->is_countable && pass->leaks.heap.cells.all.allocated_objects > 0 &&
        !pass->has_stacks &&
        trace_text_is_there(event_source_property(evidence->source, "java-vm-version")))
        note_gap(&gaps, "Call stacks were not recorded: `steptrace record --stack=64` shows the "
                        "lines that allocate.");
    if (gaps.count == 0)
        return;
    char more[64] = "";
    if (gaps.count > 1)
        snprintf(more, sizeof more, " (and %zu more: steptrace info, check)", gaps.count - 1);
    snprintf(findings_add(out, FINDING_LACKS)->text, FINDING_TEXT, "Not in the trace: %s%s",
             gaps.first, more);
}

/* ---- the heap ---- */

/* Options of the JVM that have a value of their own. */
static bool takes_value(const char *word, size_t length)
{
    static const char *const options[] = {
        "-cp",           "-classpath",    "--class-path", "-p",          "--module-path",
        "--add-modules", "--add-exports", "--add-opens",  "--add-reads", "--upgrade-module-path"};
    for (size_t i = 0; i < sizeof options / sizeof options[0]; i++)
        if (strlen(options[i]) == length && memcmp(options[i], word, length) == 0)
            return true;
    return false;
}

static uint64_t findings_size_of(const char *text)
{
    static const char units[] = "kKmMgG";
    char *end;
    uint64_t size = strtoull(text, &end, 10);
    const char *unit = *end != '\0' ? strchr(units, *end) : NULL;
    unsigned shift = unit != NULL ? 10 * ((unsigned) (unit - units) / 2 + 1) : 0;
    return size < UINT64_C(1) << 32 ? size << shift : 0;
}

/* Returns the last -Xmx before the main class, or 0. */
static uint64_t heap_limit(const struct event_source *source)
{
    static const char heap[] = "-XX:MaxHeapSize=", brief[] = "-Xmx";
    uint64_t limit = 0;
    const char *at = event_source_property(source, "command-line").unshown;
    for (at = at != NULL ? strchr(at, ' ') : NULL; at != NULL && at[1] == '-';) {
        const char *word = ++at;
        size_t length = strcspn(word, " ");
        if (strncmp(word, brief, sizeof brief - 1) == 0)
            limit = findings_size_of(word + sizeof brief - 1);
        else if (strncmp(word, heap, sizeof heap - 1) == 0)
            limit = findings_size_of(word + sizeof heap - 1);
        at = strchr(word, ' ');
        if (at != NULL && takes_value(word, length))
            at = strchr(at + 1, ' ');
        if ((length == 4 && memcmp(word, "-jar", 4) == 0) ||
            (length == 2 && memcmp(word, "-m", 2) == 0))
            break;
    }
    return limit;
}

static void find_heap(const struct findings_evidence *evidence, struct findings *out)
{
    const struct findings_pass *pass = evidence->pass;
    if (!pass->is_countable || pass->is_native || !has_deaths(pass) ||
        allocated_bytes(pass) < BYTES_LEAST || pass->least.heap == 0 ||
        gaps_of(evidence).count != 0)
        return;
    uint64_t limit = heap_limit(evidence->source), enough = pass->least.heap;
    char ran[64] = "";
    if (limit != 0 && limit / HEAP_TIMES_LEAST < enough)
        return;
    if (limit != 0)
        snprintf(ran, sizeof ran, " of -Xmx%" PRIu64 "m", limit >> 20);
    snprintf(findings_add(out, FINDING_HEAP)->text, FINDING_TEXT,
             "Heap: -Xmx%" PRIu64
             "m would have been enough with Serial%s; at most %s%s were in use "
             "at one time.",
             enough >> 20,
             !death_dates_are_exact(&pass->leaks.heap.deaths)
                 ? ", or less (an object counts until a collection finds it dead)"
                 : "",
             quantity_of_bytes((double) pass->peak_living).text, ran);
}

/* Puts the findings in the order in which they are read.  Returns false if memory runs out. */
static bool find_of_objects(const struct findings_evidence *evidence, struct heap_sites *names,
                            struct findings *out)
{
    const struct findings_pass *pass = evidence->pass;
    bool has_sites = pass->is_countable && allocated_bytes(pass) > 0;
    size_t count;
    struct place_life *places = findings_find_places(pass, names, &count);
    if (places == NULL)
        return false;
    if (has_sites)
        find_allocated(pass, names, places, count, out);
    bool ok = findings_find_growth(evidence, names, out);
    if (has_sites)
        find_dead(pass, names, places, count, out);
    find_heap(evidence, out);
    free(places);
    return ok;
}

bool findings_make(const struct findings_evidence *evidence, struct findings *out)
{
    struct heap_sites places; /* lines, whatever their callers */
    *out = (struct findings){.count = 0};
    bool ok = heap_sites_init(&places, &evidence->source->names);
    if (ok && evidence->pass != NULL)
        ok = find_of_objects(evidence, &places, out);
    find_gaps(evidence, out);
    heap_sites_reset(&places);
    return ok;
}

void findings_print(const struct findings *findings, const char *path)
{
    for (size_t i = 0; i < findings->count; i++) {
        const struct finding *finding = &findings->items[i];
        fputs("- ", stdout);
        print_shown_text(finding->text, stdout);
        putchar('\n');
        if (finding->verb == NULL || path == NULL)
            continue;
        printf("  $ steptrace %s%s ", finding->verb, finding->options);
        print_shown_word(path, stdout);
        putchar('\n');
    }
    if (findings->count > 0)
        putchar('\n');
}

void findings_put_json(const struct findings *findings, struct json_output *json)
{
    json_begin_array(json, "findings");
    for (size_t i = 0; i < findings->count; i++) {
        json_begin_object(json, NULL);
        json_text(json, "kind", finding_words[findings->items[i].kind]);
        json_bytes(json, "text", step_text(findings->items[i].text));
        json_end_object(json);
    }
    json_end_array(json);
}
