/* SPDX-License-Identifier: Apache-2.0 */
/* steptrace recover: makes a complete STEP trace from the files of a killed process, or from a
 * damaged file. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "converter/cli/error_report.h"
#include "converter/cli/given_definition.h"
#include "converter/cli/verb.h"
#include "converter/files/joined_files.h"
#include "converter/files/sampled_trace.h"
#include "converter/files/trace_files.h"
#include "converter/files/trace_gap.h"
#include "converter/files/trace_reader.h"
#include "converter/formats/input.h"
#include "converter/output/output_file.h"
#include "converter/output/trace_output.h"
#include "converter/records/copy_trace.h"
#include "converter/trace/copy_loss.h"
#include "steptrace/live.h"

VERB(recover);

enum { PAUSE_MS = 10, LONGEST_WAIT_MS = 5000 };

static const struct verb_help help = {
    "recover", "IN [-o OUT]",
    "Repairs a truncated or damaged trace: writes a complete .step file from the intact\n"
    "blocks of IN and from IN.live, which the process leaves if it is killed. Without -o\n"
    "the result replaces IN, and IN.live is removed. (All other commands read such traces\n"
    "directly.)\n"};

/* A killed process leaves its writer behind, which ends as soon as all events are in the files.
 * Returns true if the files are free within LONGEST_WAIT_MS. */
static bool are_free(const char *path, const char *live_path)
{
    const struct timespec pause = {.tv_nsec = PAUSE_MS * 1000000L};
    for (int waited = 0; trace_is_held(path) || trace_is_held(live_path); waited += PAUSE_MS) {
        if (waited >= LONGEST_WAIT_MS)
            return false;
        nanosleep(&pause, NULL);
    }
    return true;
}

struct copying {
    struct step_reader *reader;
    uint64_t records;
};

static enum step_status verb_recover_copy(void *user, struct step_writer *writer,
                                          struct step_error *error)
{
    struct copying *copying = user;
    return stepfile_copy(copying->reader, writer, &copying->records, error);
}

/* Writes `output`.  Reports errors. */
static enum step_status write_whole(struct step_reader *reader, const char *path,
                                    const char *output)
{
    struct step_error error = {.offset = STEP_NO_OFFSET};
    struct step_writer_options options;
    struct copying copying = {.reader = reader};
    step_writer_options_init(&options);
    options.definition = step_reader_borrow_definition(reader);
    options.verify = true;
    if (trace_write(output, &options, verb_recover_copy, &copying, NULL, &error) != STEP_STATUS_OK)
        return report_error(&error);
    if (step_reader_recovered_count(reader) > 0)
        report_line("%s: %" PRIu64 " records, %" PRIu64 " of them from %s" STEP_LIVE_SUFFIX, output,
                    copying.records, step_reader_recovered_count(reader), path);
    else
        report_line("%s: %" PRIu64 " records", output, copying.records);
    return STEP_STATUS_OK;
}

/* Returns true if a live file exists whose records the reader could not read. */
static bool is_unread(const struct step_reader *reader, const char *live_path)
{
    struct step_live_header header;
    struct stat about;
    if (lstat(live_path, &about) != 0)
        return false;
    for (size_t i = 0; i < step_reader_damage_count(reader); i++)
        if (strncmp(step_reader_damage(reader, i)->message, STEP_LIVE_UNREAD,
                    strlen(STEP_LIVE_UNREAD)) == 0)
            return true;
    return !S_ISREG(about.st_mode) || !live_header_read(live_path, &header) ||
           header.version != STEP_LIVE_VERSION;
}

static enum step_status leave_both(struct step_reader *reader, const char *path,
                                   const char *live_path)
{
    report_reader_damage(reader, path);
    report_line("%s: it cannot be read, and both files are left as they are (-o OUT writes what "
                "the trace has)",
                live_path);
    step_reader_destroy(reader);
    return STEP_STATUS_CORRUPT;
}

static enum step_status report_lack(const struct step_reader *reader, const char *path)
{
    char text[TRACE_GAP_ROOM], room[COPY_LOSS_ROOM];
    const char *missing = step_reader_property(reader, STEP_LIVE_MISSING_AFTER);
    const char *lacks = copy_loss_of_reader(reader, room);
    const char *gap = trace_gap_recorded(reader, text);
    if (missing != NULL)
        report_line("%s: %s", path, trace_gap_end(missing, text));
    else if (lacks != NULL)
        report_line("%s: the trace is incomplete: %s", path, lacks);
    else if (gap != NULL)
        report_line("%s: %s", path, gap);
    return missing != NULL || lacks != NULL || gap != NULL ? STEP_STATUS_CORRUPT : STEP_STATUS_OK;
}

static enum step_status recover(const char *path, const char *live_path, const char *output)
{
    struct step_reader *reader;
    struct step_error error = {.offset = STEP_NO_OFFSET};
    bool in_place = output == NULL;
    enum step_status status;
    if (!are_free(path, live_path)) {
        step_error_set(&error, STEP_STATUS_BUSY, path, STEP_NO_OFFSET,
                       "its process still runs and writes it");
        return report_error(&error);
    }
    status = open_with_given_definition(path, NULL, &reader, &error);
    if (status != STEP_STATUS_OK) {
        report_error(&error);
        bool is_bad = status != STEP_STATUS_IO && status != STEP_STATUS_NOT_FOUND &&
                      status != STEP_STATUS_NO_MEMORY;
        return is_bad ? STEP_STATUS_CORRUPT : status;
    }
    if (in_place && is_unread(reader, live_path))
        return leave_both(reader, path, live_path);
    if (in_place && step_reader_is_whole(reader) && step_reader_damage_count(reader) == 0 &&
        step_reader_property(reader, STEP_LIVE_REST) == NULL)
        report_line("%s: the file is whole: nothing to repair", path);
    else
        status = write_whole(reader, path, in_place ? path : output);
    if (status == STEP_STATUS_OK && in_place && !output_file_remove(live_path) && errno != ENOENT)
        report_line("%s: cannot be removed: %s", live_path, strerror(errno));
    if (status == STEP_STATUS_OK)
        status = report_damaged_blocks(reader, path);
    if (status == STEP_STATUS_OK)
        status = report_lack(reader, path);
    step_reader_destroy(reader);
    return status;
}

enum step_status verb_recover(int argc, char **argv)
{
    const char *output = NULL;
    const struct option_row rows[] = {
        {"output", 'o', "OUT", "the file to write (IN itself)", take_text, &output}, READING_ROWS};
    struct arguments arguments = ARGUMENTS_OF(help, rows);
    if (!arguments_read(&arguments, argc, argv, 1, 1))
        return arguments.status;
    const char *path = arguments.operands[0];
    if (rotated_files_exist(path))
        return arguments_fault(&arguments,
                               "%s stands for the files of a recording: recover takes one of them, "
                               "and pack makes one file of all",
                               path);
    return recover(path, trace_live_path(path).text, output);
}
