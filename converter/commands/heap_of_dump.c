/* SPDX-License-Identifier: Apache-2.0 */
/* Selects heap dumps, and writes them in other formats. */
#include "converter/commands/heap_of_dump.h"
#include "converter/cli/error_report.h"
#include "converter/containers/no_memory.h"
#include "converter/output/output_file.h"

#include <stdlib.h>
#include <string.h>

#include "converter/containers/peak.h"
#include "converter/formats/input.h"
#include "converter/heap/heap_writer.h"
#include "converter/output/output_stream.h"
#include "steptrace/packed.h"

/* The file may be intact up to there. */
static bool heap_of_dump_is_damage(enum step_status status)
{
    return status == STEP_STATUS_CUT || status == STEP_STATUS_CORRUPT ||
           status == STEP_STATUS_LIMIT;
}

enum step_status heap_of_dump_open(struct heap_of_dump *import, const char *path)
{
    *import = (struct heap_of_dump){.error = {.offset = STEP_NO_OFFSET}};
    enum step_status status = seekable_path_open(&import->seekable, path, &import->error);
    if (status != STEP_STATUS_OK)
        return report_error(&import->error);
    status = memory_infra_open(&import->infra, import->seekable.path, &import->error);
    if (heap_of_dump_is_damage(status))
        import->damage = status;
    else if (status != STEP_STATUS_OK)
        report_error(&import->error);
    return heap_of_dump_is_damage(status) ? STEP_STATUS_OK
           : status == STEP_STATUS_FORMAT ? STEP_STATUS_CORRUPT
                                          : status;
}

void heap_of_dump_close(struct heap_of_dump *import)
{
    if (import->infra.path != NULL)
        memory_infra_reset(&import->infra);
    seekable_path_close(&import->seekable);
}

enum step_status heap_of_dump_report_damage(const struct heap_of_dump *import,
                                            enum step_status status)
{
    const struct memory_infra *infra = &import->infra;
    size_t reported = sizeof infra->first_faults / sizeof infra->first_faults[0];
    for (size_t i = 0; i < infra->fault_count && i < reported; i++)
        report_line("%s: %s", infra->path, infra->first_faults[i]);
    if (infra->fault_count > reported)
        report_line("%s: and %zu more faults", infra->path, infra->fault_count - reported);
    if (import->damage != STEP_STATUS_OK)
        report_error(&import->error);
    bool is_damaged = infra->fault_count > 0 || import->damage != STEP_STATUS_OK;
    bool is_own = status != STEP_STATUS_OK && status != STEP_STATUS_NOT_FOUND;
    return is_damaged && !is_own ? STEP_STATUS_CORRUPT : status;
}

/* A pass over the dumps.  Damage of the file is reported once, at the end. */
static enum step_status each(struct heap_of_dump *import, const char *heap,
                             memory_infra_receive receive, void *user, struct step_error *error)
{
    enum step_status status = memory_infra_each(&import->infra, heap, receive, user, error);
    return import->damage != STEP_STATUS_OK && heap_of_dump_is_damage(status) ? STEP_STATUS_OK
                                                                              : status;
}

struct chooser {
    struct heap_of_dump *import;
    bool by_class;
    const struct heap_moment *moments;
    size_t moment_count;
    struct heap_snapshot *snapshots;
};

static bool is_better(const struct heap_moment *moment, const struct memory_infra_dump *dump,
                      const struct heap_snapshot *now, const struct heap_snapshot *best)
{
    switch (moment->kind) {
    case HEAP_AT_END:
        return true;
    case HEAP_AT_PEAK:
        return best->rows == NULL ||
               peak_passed(&(struct peak){best->live.bytes, best->live.objects}, now->live.bytes,
                           now->live.objects);
    case HEAP_AT_TIME:
        return dump->time_ns <= moment->value;
    default:
        return dump->number == moment->value;
    }
}

static enum step_status heap_of_dump_choose(void *user, const struct memory_infra_dump *given,
                                            struct step_error *error)
{
    struct chooser *chooser = user;
    struct memory_infra_dump dump = *given;
    for (size_t i = 0; i < chooser->moment_count; i++) {
        struct heap_snapshot now;
        /* processing changes the values, so each moment gets a copy */
        struct dump_value *values = malloc((dump.count + 1) * sizeof *values);
        if (values == NULL)
            return no_memory(error);
        struct memory_infra_dump copy = dump;
        memcpy(values, dump.values, dump.count * sizeof *values);
        copy.values = values;
        enum step_status status =
            memory_infra_rows(&chooser->import->infra, &copy, chooser->by_class, &now, error);
        free(values);
        if (status != STEP_STATUS_OK)
            return status;
        if (is_better(&chooser->moments[i], &dump, &now, &chooser->snapshots[i])) {
            heap_snapshot_reset(&chooser->snapshots[i]);
            chooser->snapshots[i] = now;
            chooser->snapshots[i].moment = chooser->moments[i];
        } else {
            heap_snapshot_reset(&now);
        }
    }
    return STEP_STATUS_OK;
}

enum step_status heap_of_dump_moments(struct heap_of_dump *import, const char *heap, bool by_class,
                                      const struct heap_moment *moments, size_t moment_count,
                                      struct heap_snapshot *snapshots)
{
    struct chooser chooser = {import, by_class, moments, moment_count, snapshots};
    struct step_error error = {.offset = STEP_NO_OFFSET};
    enum step_status status = each(import, heap, heap_of_dump_choose, &chooser, &error);
    return status == STEP_STATUS_OK ? status : report_error(&error);
}

struct copier {
    struct heap_of_dump *import;
    struct heap_writer *writer;
};

static enum step_status heap_of_dump_copy(void *user, const struct memory_infra_dump *given,
                                          struct step_error *error)
{
    struct copier *copier = user;
    struct memory_infra_dump dump = *given;
    struct heap_snapshot snapshot;
    enum step_status status =
        memory_infra_rows(&copier->import->infra, &dump, false, &snapshot, error);
    if (status == STEP_STATUS_OK) {
        copier->writer->process = given->process;
        status = copier->writer->operations->put(copier->writer, &snapshot, error);
        heap_snapshot_reset(&snapshot);
    }
    return status;
}

/* All dumps, or the selected one. */
static enum step_status put_dumps(struct heap_of_dump *import, struct heap_writer *writer,
                                  const struct heap_export *options, struct step_error *error)
{
    struct copier copier = {import, writer};
    struct heap_snapshot snapshot = {.rows = NULL};
    struct chooser chooser = {import, false, &options->at, 1, &snapshot};
    if (writer->operations->takes_series && !options->has_moment)
        return each(import, NULL, heap_of_dump_copy, &copier, error);
    enum step_status status = each(import, NULL, heap_of_dump_choose, &chooser, error);
    if (status == STEP_STATUS_OK)
        status = snapshot.rows == NULL
                     ? step_error_set(error, STEP_STATUS_NOT_FOUND, import->infra.path,
                                      STEP_NO_OFFSET, "the file has no such dump")
                     : writer->operations->put(writer, &snapshot, error);
    heap_snapshot_reset(&snapshot);
    return status;
}

static enum step_status heap_of_dump_write_all(struct heap_of_dump *import,
                                               struct output_file *file,
                                               const struct format_job *job,
                                               struct step_error *error)
{
    struct step_output to = output_file_as_output(file);
    struct step_packed_output *packed = NULL;
    struct heap_writer *writer = NULL;
    const struct heap_export heap = heap_export_of(job->settings);
    enum step_status status = output_pack(&to, trace_format_packing(job->format, job->output),
                                          format_settings_level(job->settings), &packed, error);
    if (status == STEP_STATUS_OK)
        status = heap_writer_create(job->format->heap_writer, &to, &heap, &import->infra.sites,
                                    &writer, error);
    if (status == STEP_STATUS_OK) {
        writer->process = 1;
        status = put_dumps(import, writer, &heap, error);
    }
    if (status == STEP_STATUS_OK)
        status = heap_writer_close(writer, error);
    if (status == STEP_STATUS_OK && packed != NULL)
        status = step_packed_output_close(packed, error);
    heap_writer_destroy(writer);
    step_packed_output_destroy(packed);
    return output_file_end(file, status, error);
}

enum step_status heap_of_dump_convert(const struct format_job *job)
{
    struct step_error error = {.offset = STEP_NO_OFFSET};
    struct heap_of_dump import;
    struct output_file file;
    if (job->format->heap_writer == NULL) {
        step_error_set(&error, STEP_STATUS_INVALID, job->input, STEP_NO_OFFSET,
                       "heap dumps become memory-infra, pprof, collapsed or speedscope, not %s",
                       job->format->name);
        return report_error(&error);
    }
    enum step_status status = heap_of_dump_open(&import, job->input);
    if (status == STEP_STATUS_OK) {
        status = output_file_open(&file, job->output, &error);
        if (status == STEP_STATUS_OK)
            status = heap_of_dump_write_all(&import, &file, job, &error);
        if (status != STEP_STATUS_OK)
            report_error(&error);
        status = heap_of_dump_report_damage(&import, status);
    }
    heap_of_dump_close(&import);
    return status;
}
