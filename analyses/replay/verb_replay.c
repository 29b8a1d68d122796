/* SPDX-License-Identifier: Apache-2.0 */
/* steptrace replay: replays a heap trace against malloc implementations. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyses/replay/replay_run.h"
#include "converter/cli/verb.h"
#include "converter/formats/input.h"
#include "converter/output/output_file.h"
#include "converter/recorders/recording.h"
#include "format/core/step_no_memory.h"

VERB(replay);

#define NAMES_MAX 4096u
#define REPEAT_MOST 1000u

static const struct verb_help help = {
    "replay", "IN [OPTION]...",
    "Replays the allocations, reallocations and frees of a trace (.hatf, .hatf.zst,\n"
    ".step, split or packed; Java traces too) against memory allocators, each in its own\n"
    "process, and compares their time and memory. Invalid calls in the trace (a double\n"
    "free, a free of an unknown block, an allocation over a live one) are never passed to\n"
    "an allocator.\n"};

struct wanted {
    const char *allocators, *svg;
    bool csv, json;
    struct replay_settings settings;
};

static bool take_repeat(void *uint64_target, const char *value, const char **fault)
{
    *fault = "a number from 1 to 1000 is expected";
    return take_count(uint64_target, value, fault) && *(uint64_t *) uint64_target >= 1 &&
           *(uint64_t *) uint64_target <= REPEAT_MOST;
}

static bool take_megabytes(void *uint64_target, const char *value, const char **fault)
{
    uint64_t megabytes = 0;
    bool is_count = take_count(&megabytes, value, fault);
    *fault = "a number of MiB from 16 is expected";
    if (!is_count || megabytes < 16 || megabytes > UINT64_C(1) << 30)
        return false;
    *(uint64_t *) uint64_target = megabytes << 20;
    return true;
}

/* Splits `names` at commas. */
static enum step_status add_allocators(struct replay *replay, const char *list, char *names,
                                       struct step_error *error)
{
    enum step_status status = STEP_STATUS_OK;
    if (list == NULL || strcmp(list, "all") == 0)
        return replay_allocators_add_installed(&replay->allocators, error);
    snprintf(names, NAMES_MAX, "%s", list);
    for (char *rest = NULL, *name = strtok_r(names, ",", &rest);
         name != NULL && status == STEP_STATUS_OK; name = strtok_r(NULL, ",", &rest))
        status = replay_allocators_add(&replay->allocators, name, error);
    if (status == STEP_STATUS_OK && replay->allocators.count == 0)
        status = step_error_set(error, STEP_STATUS_NOT_FOUND, NULL, STEP_NO_OFFSET,
                                "--allocator: '%s' names no allocator", list);
    return status;
}

static enum step_status verb_replay_report(const struct replay *replay, const struct wanted *wanted,
                                           struct step_error *error)
{
    if (wanted->json)
        replay_print_json(replay);
    else if (wanted->csv)
        replay_print_csv(replay);
    else
        replay_print_table(replay);
    return wanted->svg != NULL
               ? output_file_print(wanted->svg, NULL, replay_print_picture, replay, error)
               : STEP_STATUS_OK;
}

static enum step_status verb_replay_run(const struct wanted *wanted)
{
    static char names[NAMES_MAX];
    struct step_error error = {.offset = STEP_NO_OFFSET};
    struct replay replay;
    enum step_status status = STEP_STATUS_OK;
    replay_init(&replay, &wanted->settings);
    if (!component_find("steptrace-replay", "../replay", NULL, "STEPTRACE_REPLAY",
                        replay.settings.driver) &&
        !component_find("steptrace-replay", "../libexec/steptrace", NULL, "STEPTRACE_REPLAY",
                        replay.settings.driver))
        status = step_error_set(&error, STEP_STATUS_NOT_FOUND, "steptrace-replay", STEP_NO_OFFSET,
                                "the driver cannot be found; STEPTRACE_REPLAY names it");
    if (status == STEP_STATUS_OK)
        status = add_allocators(&replay, wanted->allocators, names, &error);
    if (status == STEP_STATUS_OK)
        status = replay_run(&replay, &error);
    if (status == STEP_STATUS_OK)
        status = verb_replay_report(&replay, wanted, &error);
    if (status != STEP_STATUS_OK)
        report_error(&error);
    else if (replay.trace.is_damaged)
        status = STEP_STATUS_CORRUPT;
    replay_reset(&replay);
    return status;
}

/* The trace is read more than once. */
static enum step_status run_on(struct wanted *wanted, const char *path)
{
    struct seekable_path seekable;
    struct step_error error = {.offset = STEP_NO_OFFSET};
    enum step_status status = seekable_path_open(&seekable, path, &error);
    wanted->settings.path = seekable.path;
    wanted->settings.name = seekable.spool >= 0 ? STANDARD_INPUT_NAME : path;
    status = status == STEP_STATUS_OK ? verb_replay_run(wanted) : report_error(&error);
    seekable_path_close(&seekable);
    return status;
}

enum step_status verb_replay(int argc, char **argv)
{
    struct wanted wanted = {.settings = {.touch = REPLAY_TOUCH_FIRST, .repeat = 1}};
    const struct option_row rows[] = {
        {"allocator", 'a', "LIST",
         "all (those installed), or some: glibc,jemalloc,tcmalloc,mimalloc,PATH.so", take_text,
         &wanted.allocators},
        {"threads", 0, "HOW", "one (default): in the trace's order; trace: as many as the trace",
         WORDS(wanted.settings.is_threaded, "one", "trace")},
        {"pace", 0, "HOW", "none (default): as fast as possible; trace: at the trace's times",
         WORDS(wanted.settings.is_paced, "none", "trace")},
        {"touch", 0, "HOW", "write to allocated memory: none, first (a byte) or all",
         WORDS(wanted.settings.touch, "none", "first", "all")},
        {"repeat", 0, "N", "run each N times and report the fastest", take_repeat,
         &wanted.settings.repeat},
        {"on-error", 0, "HOW", "invalid calls in the trace: skip (default) or refuse",
         WORDS(wanted.settings.refuses, "skip", "refuse")},
        {"decoded", 0, "MIB", "memory for the decoded trace, at least 16 (a quarter of all)",
         take_megabytes, &wanted.settings.memory_bytes},
        FROM_ROW(&wanted.settings.format),
        {"csv", 0, NULL, "CSV, one line per allocator", take_flag, &wanted.csv},
        {"json", 0, NULL, "JSON, with memory over time", take_flag, &wanted.json},
        {"svg", 0, "FILE", "write a chart of live bytes and RSS over time", take_text, &wanted.svg},
        READING_ROWS};
    struct arguments arguments = ARGUMENTS_OF(help, rows);
    if (!arguments_read(&arguments, argc, argv, 1, 1))
        return arguments.status;
    if (wanted.csv && wanted.json)
        return arguments_fault(&arguments, "--csv and --json exclude each other");
    return run_on(&wanted, arguments.operands[0]);
}
