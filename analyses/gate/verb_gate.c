/* SPDX-License-Identifier: Apache-2.0 */
/* steptrace gate: compares what phases allocate with a snapshot that is kept with the source, or
 * writes it. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyses/gate/phase_totals.h"
#include "analyses/gate/snapshot_file.h"
#include "converter/cli/error_report.h"
#include "converter/cli/verb.h"
#include "converter/containers/no_memory.h"
#include "converter/output/output_lock.h"
#include "converter/statistics/gate_rule.h"
#include "converter/trace/open_phases.h"
#include "converter/trace/selection_options.h"
#include "converter/verdicts/review.h"
#include "converter/verdicts/verdict.h"

VERB(gate);

#define GATE_TRACES_MOST ((size_t) 1000)

struct gate_asked {
    const char *snapshot; /* the path */
    bool updates, is_quiet;
    uint64_t objects, bytes; /* a difference up to these is none */
    struct phase_counting counting;
    struct verdict_files files;
};

struct gate_run {
    const struct gate_asked *asked;
    struct phase_totals counts;
    struct snapshot_file snapshot;
    struct verdict_list verdicts;
};

/* ---- comparison ---- */

static bool gate_is_near(const struct gate_asked *asked, const char *known_text,
                         uint64_t known_objects, uint64_t known_bytes,
                         const struct phase_total *seen)
{
    uint64_t objects = known_objects > seen->objects ? known_objects - seen->objects
                                                     : seen->objects - known_objects;
    uint64_t bytes =
        known_bytes > seen->bytes ? known_bytes - seen->bytes : seen->bytes - known_bytes;
    bool is_exact = asked->objects == 0 && asked->bytes == 0;
    return is_exact ? strcmp(known_text, seen->text) == 0
                    : objects <= asked->objects && bytes <= asked->bytes;
}

static void gate_put_change(const char *unit, uint64_t before, uint64_t after, FILE *out)
{
    uint64_t change = after > before ? after - before : before - after;
    fprintf(out, "%c%" PRIu64 " %s%s", after < before ? '-' : '+', change, unit,
            change == 1 ? "" : "s");
}

/* Prints the change, and both sides as a diff has them. */
static void gate_put_diff(const char *known_text, uint64_t known_objects, uint64_t known_bytes,
                          const struct phase_total *seen, FILE *out)
{
    fputs("  ", out);
    gate_put_change("object", known_objects, seen->objects, out);
    fputs(", ", out);
    gate_put_change("byte", known_bytes, seen->bytes, out);
    fprintf(out, "\n  - %s\n  + %s\n", known_text, seen->text);
}

/* Returns the line that holds for the JDK, or NULL: the only one holds for all. */
static const struct snapshot_line *gate_line_of(const struct gate_run *run,
                                                const struct phase_total *seen, size_t *count)
{
    const struct snapshot_line *lines = snapshot_file_find(&run->snapshot, seen->name, count);
    for (size_t i = 0; i < *count; i++)
        if (*count == 1 || snapshot_line_has(&lines[i], seen->jdk))
            return &lines[i];
    return NULL;
}

/* Prints why the phase fails; nothing if it passes. */
static void gate_compare(const struct gate_run *run, const struct phase_total *seen,
                         const struct snapshot_line *line, size_t count, FILE *out)
{
    if (line != NULL) {
        if (!gate_is_near(run->asked, line->text, line->objects, line->bytes, seen))
            gate_put_diff(line->text, line->objects, line->bytes, seen, out);
        return;
    }
    fprintf(out, count == 0 ? "  the snapshot has no line of it; --update writes one\n"
                            : "  the snapshot has lines of other JDKs; --update writes one\n");
    fprintf(out, "  + %s\n", seen->text);
}

/* Adds a verdict with what `print` has printed into `text`, which is freed. */
static bool gate_note(struct gate_run *run, enum verdict_state state, const char *name,
                      const char *file, uint64_t line, char *text)
{
    struct verdict *verdict = verdict_list_add(&run->verdicts);
    if (verdict == NULL) {
        free(text);
        return false;
    }
    *verdict = (struct verdict){.state = state,
                                .kind = "snapshot",
                                .name = strdup(name),
                                .text = text,
                                .file = strdup(file),
                                .line = line};
    return verdict->name != NULL && verdict->file != NULL &&
           (text != NULL || state == VERDICT_PASSED);
}

static bool gate_judge_phase(struct gate_run *run, const struct phase_total *seen)
{
    char *text = NULL;
    size_t length, count;
    const struct snapshot_line *line = gate_line_of(run, seen, &count);
    FILE *stream = open_memstream(&text, &length);
    if (stream == NULL)
        return false;
    gate_compare(run, seen, line, count, stream);
    if (fclose(stream) != 0)
        return false;
    bool passes = length == 0;
    if (passes) {
        free(text);
        text = NULL;
    }
    return gate_note(run, passes ? VERDICT_PASSED : VERDICT_FAILED, seen->name,
                     run->asked->snapshot, line != NULL ? line->number : 0, text);
}

/* ---- several traces ---- */

static int gate_order(const void *left, const void *right)
{
    const struct phase_total *a = left, *b = right;
    int order = strcmp(a->name, b->name);
    return order != 0 ? order : (a->jdk > b->jdk) - (a->jdk < b->jdk);
}

/* Of two traces of one JDK, a phase is to have the same; the first counts. */
static bool gate_merge(struct gate_run *run)
{
    struct phase_totals *counts = &run->counts;
    size_t kept = 0;
    bool ok = true;
    if (counts->count > 0)
        qsort(counts->items, counts->count, sizeof *counts->items, gate_order);
    for (size_t i = 0; i < counts->count; i++) {
        struct phase_total *seen = &counts->items[i], *first = &counts->items[kept - (kept > 0)];
        if (kept == 0 || gate_order(first, seen) != 0) {
            struct phase_total moved = *seen;
            *seen = (struct phase_total){.name = NULL};
            counts->items[kept++] = moved;
            continue;
        }
        char *text = NULL;
        size_t length;
        FILE *stream = open_memstream(&text, &length);
        if (stream == NULL)
            return false;
        if (!gate_is_near(run->asked, first->text, first->objects, first->bytes, seen)) {
            fprintf(stream, "  differs from trace to trace of JDK %u: ", seen->jdk);
            print_shown_text(first->path, stream);
            fputs(" (-), ", stream);
            print_shown_text(seen->path, stream);
            fputs(" (+)\n", stream);
            gate_put_diff(first->text, first->objects, first->bytes, seen, stream);
        }
        ok = fclose(stream) == 0 && ok;
        if (ok && length > 0)
            ok = gate_note(run, VERDICT_FAILED, first->name, run->asked->snapshot, 0, text);
        else
            free(text);
        free(seen->name);
        free(seen->text);
        *seen = (struct phase_total){.name = NULL};
    }
    counts->count = kept;
    return ok;
}

/* ---- lines without a phase ---- */

static bool gate_wants_line(const struct gate_run *run, const struct snapshot_line *line)
{
    const struct phase_counting *counting = &run->asked->counting;
    const struct selected_globs *globs = &counting->selected.phases;
    if (counting->whole != NULL)
        return strcmp(line->name, counting->whole) == 0;
    if (globs->count == 0)
        return true;
    char *name = phase_name_of_line(line->name);
    bool is_wanted =
        name != NULL && selected_globs_accept(globs, phase_name_mask(globs, step_text(name)));
    free(name);
    return is_wanted;
}

static bool gate_has_phase(const struct gate_run *run, const char *name)
{
    size_t low = 0, high = run->counts.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (strcmp(run->counts.items[middle].name, name) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low < run->counts.count && strcmp(run->counts.items[low].name, name) == 0;
}

static bool gate_judge_missing(struct gate_run *run)
{
    bool ok = true;
    for (size_t i = 0; ok && i < run->snapshot.count; i++) {
        const struct snapshot_line *line = &run->snapshot.lines[i];
        bool is_first = i == 0 || strcmp(line[-1].name, line->name) != 0;
        if (is_first && gate_wants_line(run, line) && !gate_has_phase(run, line->name))
            ok = gate_note(run, VERDICT_NOT_JUDGED, line->name, run->asked->snapshot, line->number,
                           strdup("  no trace has this phase; --update removes the line\n"));
    }
    return ok;
}

/* ---- reports ---- */

static void gate_print_verdicts(const struct gate_run *run)
{
    for (size_t i = 0; i < run->verdicts.count; i++) {
        const struct verdict *verdict = &run->verdicts.items[i];
        if (!verdict_is_shown(verdict))
            continue;
        fprintf(stderr, "steptrace gate: %s: ",
                verdict->state == VERDICT_FAILED ? "the gate fails" : "not judged");
        print_shown_text(verdict->name, stderr);
        fputs(" (", stderr);
        print_shown_text(verdict->file, stderr);
        if (verdict->line != 0)
            fprintf(stderr, ":%" PRIu64, verdict->line);
        fputs(")\n", stderr);
        print_shown_lines(verdict->text, stderr);
    }
}

static void gate_print_summary(const struct gate_run *run)
{
    size_t passed = verdict_list_count(&run->verdicts, VERDICT_PASSED);
    print_shown_text(run->asked->snapshot, stdout);
    printf(": %zu of %zu phases allocate what their lines say\n", passed, run->verdicts.count);
}

static enum step_status gate_check(struct gate_run *run)
{
    bool ok = true;
    for (size_t i = 0; ok && i < run->counts.count; i++)
        ok = gate_judge_phase(run, &run->counts.items[i]);
    if (!ok || !gate_judge_missing(run))
        return report_no_memory();
    if (!run->asked->is_quiet)
        gate_print_summary(run);
    return STEP_STATUS_OK;
}

/* ---- the new file ---- */

static void gate_print_line(char sign, const char *name, const struct snapshot_line *line)
{
    printf("%c %s [", sign, name);
    for (unsigned i = 0; i < line->jdk_count; i++)
        printf(i == 0 ? "%u" : " %u", line->jdks[i]);
    printf("]: %s\n", line->text);
}

/* Returns whether a line of the new file is one of the old file. */
static bool gate_has_line(const struct snapshot_file *file, const struct snapshot_line *wanted)
{
    size_t count;
    const struct snapshot_line *lines = snapshot_file_find(file, wanted->name, &count);
    for (size_t i = 0; i < count; i++)
        if (lines[i].jdk_count == wanted->jdk_count && strcmp(lines[i].text, wanted->text) == 0 &&
            memcmp(lines[i].jdks, wanted->jdks, wanted->jdk_count * sizeof wanted->jdks[0]) == 0)
            return true;
    return false;
}

/* Prints the lines of `file` that the other one does not have.  Returns their number. */
static size_t gate_print_changes(char sign, const struct snapshot_file *file,
                                 const struct snapshot_file *other, bool is_quiet)
{
    size_t changes = 0;
    for (size_t i = 0; i < file->count; i++) {
        if (file->lines[i].jdk_count == 0 || gate_has_line(other, &file->lines[i]))
            continue;
        changes++;
        if (!is_quiet)
            gate_print_line(sign, file->lines[i].name, &file->lines[i]);
    }
    return changes;
}

static bool gate_change(struct gate_run *run, struct snapshot_file *file)
{
    bool ok = true;
    for (size_t i = 0; i < file->sorted; i++)
        if (gate_wants_line(run, &file->lines[i]) && !gate_has_phase(run, file->lines[i].name))
            snapshot_file_drop(file, file->lines[i].name);
    for (size_t i = 0; ok && i < run->counts.count; i++) {
        const struct phase_total *seen = &run->counts.items[i];
        size_t count;
        const struct snapshot_line *line = gate_line_of(run, seen, &count);
        bool stays = line != NULL && snapshot_line_has(line, seen->jdk) &&
                     gate_is_near(run->asked, line->text, line->objects, line->bytes, seen);
        ok = stays ||
             snapshot_file_put(file, seen->name, seen->jdk, seen->text, seen->objects, seen->bytes);
    }
    return ok;
}

/* Writes the file and prints what has changed, or nothing. */
static enum step_status gate_write(const struct gate_run *run, struct snapshot_file *file,
                                   struct step_error *error)
{
    const struct gate_asked *asked = run->asked;
    enum step_status status = STEP_STATUS_OK;
    snapshot_file_sort(file);
    size_t changes = gate_print_changes('-', &run->snapshot, file, true) +
                     gate_print_changes('+', file, &run->snapshot, true);
    if (changes > 0 || !file->exists)
        status = snapshot_file_write(file, error);
    if (status != STEP_STATUS_OK || asked->is_quiet)
        return status;
    gate_print_changes('-', &run->snapshot, file, false);
    gate_print_changes('+', file, &run->snapshot, false);
    print_shown_text(asked->snapshot, stdout);
    printf(": %zu line%s\n", changes,
           changes == 0   ? "s changed"
           : changes == 1 ? " changed, written"
                          : "s changed, written");
    return status;
}

/* Reads the file twice again, so that both are there to compare, while nobody else writes it. */
static enum step_status gate_update(struct gate_run *run)
{
    struct step_error error = {.offset = STEP_NO_OFFSET};
    struct snapshot_file file;
    struct output_lock lock;
    enum step_status status = output_lock_take(&lock, run->asked->snapshot, &error);
    if (status != STEP_STATUS_OK)
        return report_error(&error);
    snapshot_file_reset(&run->snapshot);
    status = snapshot_file_read(&run->snapshot, run->asked->snapshot, &error);
    file = (struct snapshot_file){.path = NULL};
    if (status == STEP_STATUS_OK)
        status = snapshot_file_read(&file, run->asked->snapshot, &error);
    if (status == STEP_STATUS_OK)
        status = gate_change(run, &file) ? gate_write(run, &file, &error) : no_memory(&error);
    snapshot_file_reset(&file);
    output_lock_release(&lock);
    return status == STEP_STATUS_OK ? status : report_error(&error);
}

/* ---- the command ---- */

static const struct verb_help help = {
    .name = "gate",
    .operands = "IN... --snapshot=FILE [OPTION]...",
    .text =
        "Compares what each phase of traces allocates with a text file that is kept with the\n"
        "program's source: a line for each, with objects, bytes and the three largest classes.\n"
        "If a line differs, the exit status is 4. --update writes the file.\n"};

static enum step_status gate_read(struct gate_run *run, const struct arguments *arguments)
{
    struct step_error error = {.offset = STEP_NO_OFFSET};
    enum step_status status = snapshot_file_read(&run->snapshot, run->asked->snapshot, &error);
    if (status != STEP_STATUS_OK)
        return report_error(&error);
    if (!run->snapshot.exists && !run->asked->updates) {
        report_line("gate: there is no %s; --update writes it", run->asked->snapshot);
        return STEP_STATUS_CORRUPT;
    }
    for (size_t i = 0; i < arguments->operand_count; i++) {
        status = phase_totals_add(&run->counts, arguments->operands[i], &run->asked->counting);
        if (status != STEP_STATUS_OK)
            return status;
    }
    if (run->counts.count > 0)
        return gate_merge(run) ? STEP_STATUS_OK : report_no_memory();
    report_line("gate: no trace has a phase%s: name methods by the agent's option phase= "
                "(docs/phases.md), or give --whole=NAME",
                run->asked->counting.selected.phases.count > 0 ? " that --phase selects" : "");
    return STEP_STATUS_CORRUPT;
}

static enum step_status gate_judge(struct gate_run *run)
{
    bool differs = verdict_list_count(&run->verdicts, VERDICT_FAILED) > 0;
    enum step_status status = run->asked->updates && !differs ? gate_update(run)
                              : run->asked->updates           ? STEP_STATUS_OK
                                                              : gate_check(run);
    if (status != STEP_STATUS_OK)
        return status;
    gate_print_verdicts(run);
    if (verdict_list_count(&run->verdicts, VERDICT_FAILED) > 0)
        verb_exit_code = GATE_EXIT_CODE;
    status = verdicts_show(&run->verdicts, &run->asked->files);
    bool is_lost = verdict_list_count(&run->verdicts, VERDICT_NOT_JUDGED) > 0;
    return status == STEP_STATUS_OK && is_lost ? STEP_STATUS_CORRUPT : status;
}

static enum step_status verb_gate_run(const struct gate_asked *asked,
                                      const struct arguments *arguments)
{
    struct gate_run run = {.asked = asked, .verdicts = {.verb = "gate"}};
    if (asked->snapshot == NULL)
        return arguments_fault(arguments, "--snapshot=FILE is needed");
    if (asked->counting.whole != NULL && asked->counting.selected.phases.count > 0)
        return arguments_fault(arguments, "--whole excludes --phase");
    enum step_status status = gate_read(&run, arguments);
    if (status == STEP_STATUS_OK)
        status = gate_judge(&run);
    verdict_list_reset(&run.verdicts);
    phase_totals_reset(&run.counts);
    snapshot_file_reset(&run.snapshot);
    return status;
}

enum step_status verb_gate(int argc, char **argv)
{
    struct gate_asked asked = {.snapshot = NULL};
    phase_counting_init(&asked.counting);
    const struct option_row rows[] = {
        {"snapshot", 0, "FILE", "the file with a line for each phase", take_text, &asked.snapshot},
        {"update", 0, NULL, "write the file, and print what changes", take_flag, &asked.updates},
        {"objects", 0, "N", "let so many objects more or fewer pass (0)", take_count,
         &asked.objects},
        {"bytes", 0, "N", "let so many bytes more or fewer pass (0)", take_size, &asked.bytes},
        {"whole", 0, "NAME", "one line of this name, for the whole program", take_text,
         &asked.counting.whole},
        {"phase", 0, "GLOB", "only phases, and lines, of this name (docs/phases.md)", take_names,
         &asked.counting.selected.phases},
        {"class", 0, "GLOB", "count only objects of classes that match", take_globs,
         &asked.counting.selected.classes},
        {"site", 0, "GLOB", "count only objects allocated in or below CLASS.METHOD[:LINE]",
         take_globs, &asked.counting.selected.sites},
        {"thread", 0, "N|GLOB", "count only objects of this thread", take_globs,
         &asked.counting.selected.threads},
        {"quiet", 'q', NULL, "print only what fails", take_flag, &asked.is_quiet},
        {"junit", 0, "FILE", "write the phases and their results as JUnit XML", take_text,
         &asked.files.junit},
        REVIEW_ROWS(&asked.files),
        READING_ROWS};
    struct arguments arguments = ARGUMENTS_OF(help, rows);
    if (arguments_read(&arguments, argc, argv, 1, GATE_TRACES_MOST))
        arguments.status = verb_gate_run(&asked, &arguments);
    return arguments.status;
}
