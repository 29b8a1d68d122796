/* SPDX-License-Identifier: Apache-2.0 */
/* steptrace attach: records a JVM that is already running. */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "converter/cli/error_report.h"
#include "converter/cli/trace_text.h"
#include "converter/cli/verb.h"
#include "converter/files/monotonic_time.h"
#include "converter/files/trace_files.h"
#include "converter/numbers/quantity.h"
#include "converter/output/output_signals.h"
#include "converter/recorders/attach.h"
#include "converter/recorders/attach_progress.h"
#include "converter/recorders/foreign_traces.h"
#include "converter/recorders/recording.h"
#include "steptrace/live.h"
#include "steptrace/reader.h"

VERB(attach);

#define NAMES_TRIED 8u /* attempts, if others take the names meanwhile */
/* What --sampled sets unless -O does otherwise: a limit that costs about 1 % of a core. */
#define SAMPLED_OPTIONS ",engine=sampled,rate=1000"
#define LOOK_NS UINT64_C(500000000)
#define LOOKS_MISSING 3u
#define SAMPLE_MOST (UINT64_C(1) << 30)
#define WINDOW_LEAST_NS UINT64_C(1000000)
#define WINDOW_MOST_NS (UINT64_C(3600) * 1000000000)

static const struct verb_help help = {
    "attach", "[-d TIME] [-o FILE] [OPTION]... PID",
    "Records a JVM that is already running: for some time (-d), until interrupted\n"
    "(--wait), or, without either, until the JVM ends or `steptrace attach --stop PID`.\n"
    "--snapshot adds all references of the heap to a trace that is being recorded.\n"
    "--sampled records a sample of the objects, at a small cost.\n"
    "Root can attach to a JVM of another user. For a JVM in a container, the agent is\n"
    "copied into its /tmp and the trace is fetched from there.\n"
    "`steptrace record -O help java` lists the options of the agent (-O).\n"};

/* What was seen of the trace that is waited for, which is there from the agent's answer on, also
 * while it waits for the method of start=. A ring is without a file for moments. */
struct trace_looks {
    uint64_t next_ns;
    unsigned missing; /* looks in a row */
};

struct attachment {
    const char *wanted; /* as given by the user */
    const char *output; /* that name, or the first free one */
    const char *agent;
    uint64_t duration_ns;
    bool wait;
    bool stop;
    bool snapshot;
    bool dry_run;
    bool status;
    bool sampled;
    uint64_t sample_bytes; /* 0: not given */
    uint64_t window_ns;    /* 0: not given */
    bool report, no_snapshot;
    bool ended_itself; /* the trace, by a guard, a limit, a full disk */
    struct recording_options options;
    struct jvm_process process;
    struct shared_place place;
};

static volatile sig_atomic_t interrupted;

static void note_signal(int number)
{
    (void) number;
    interrupted = 1;
}

/* ---- beginning and end ---- */

/* The agent ends the trace as well, if this command does not live to do so. */
static uint64_t duration_ms(const struct attachment *attachment)
{
    return (attachment->duration_ns + 999999) / 1000000;
}

/* Writes the options that this command implies; those of -O come after them and prevail. */
static void implied_options(const struct attachment *attachment, char *out, size_t size)
{
    bool report = attachment->report;
    int used = snprintf(out, size, "%s%s%s", report ? RECORDING_REPORT_STACK : "",
                        report && !attachment->no_snapshot ? RECORDING_REPORT_SNAPSHOT : "",
                        attachment->sampled ? SAMPLED_OPTIONS : "");
    if (attachment->sample_bytes != 0)
        used += snprintf(out + used, size - (size_t) used, ",sample=%" PRIu64,
                         attachment->sample_bytes);
    if (attachment->duration_ns != 0)
        used += snprintf(out + used, size - (size_t) used, ",duration=%" PRIu64 "ms",
                         duration_ms(attachment));
    if (attachment->window_ns != 0)
        snprintf(out + used, size - (size_t) used, ",window=%" PRIu64 "ms",
                 attachment->window_ns / 1000000);
}

static enum step_status verb_attach_begin(struct attachment *attachment)
{
    char agent[PATH_MAX], options[sizeof attachment->options + 4 * PATH_MAX];
    char implied[128] = "";
    struct step_error error = {.offset = STEP_NO_OFFSET};
    const struct jvm_process *process = &attachment->process;
    implied_options(attachment, implied, sizeof implied);
    if (process->is_elsewhere) {
        if (!agent_find(attachment->agent, agent))
            return STEP_STATUS_IO;
        if (shared_place_make(process, agent, &attachment->place, &error) != STEP_STATUS_OK)
            return report_error(&error);
        snprintf(options, sizeof options, "start,file=%s%s%s", attachment->place.trace, implied,
                 attachment->options.text);
        snprintf(agent, sizeof agent, "%s", attachment->place.agent);
    } else {
        if (!agent_of(process, attachment->agent, agent))
            return STEP_STATUS_IO;
        char name[3 * PATH_MAX];
        if (!recording_file_name(attachment->output, name, sizeof name))
            return STEP_STATUS_IO;
        snprintf(options, sizeof options, "start,file=%s%s%s", name, implied,
                 attachment->options.text);
    }
    if (attach_load(process, agent, options, &error) != STEP_STATUS_OK)
        return report_error(&error);
    bool is_first = process->is_elsewhere || process->agent[0] == '\0';
    if (is_first && process->java_version >= 21)
        report_line("Java %u prints a warning on the program's standard error when an agent is "
                    "loaded, unless the program was started with -XX:+EnableDynamicAgentLoading",
                    process->java_version);
    return STEP_STATUS_OK;
}

static bool is_recorded(const struct attachment *attachment)
{
    char path[PATH_MAX];
    struct step_error ignored;
    return process_trace_find(attachment->process.pid, path, &ignored) == STEP_STATUS_OK;
}

static enum step_status verb_attach_end(struct attachment *attachment)
{
    char agent[PATH_MAX];
    struct step_error error = {.offset = STEP_NO_OFFSET};
    if (attachment->place.agent[0] != '\0')
        snprintf(agent, sizeof agent, "%s", attachment->place.agent);
    else if (!agent_of(&attachment->process, attachment->agent, agent))
        return STEP_STATUS_IO;
    char command[64] = "stop";
    if (!attachment->stop && attachment->duration_ns != 0)
        snprintf(command, sizeof command, "stop,duration=%" PRIu64 "ms", duration_ms(attachment));
    enum step_status status = attach_load(&attachment->process, agent, command, &error);
    if (status == STEP_STATUS_OK || !jvm_process_is_there(&attachment->process))
        return STEP_STATUS_OK; /* the trace ended with the JVM */
    attachment->ended_itself = !attachment->stop && !is_recorded(attachment);
    return attachment->ended_itself ? STEP_STATUS_OK : report_error(&error);
}

/* ---- recording ---- */

static void catch_signals(void)
{
    struct sigaction action = {.sa_handler = note_signal};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGHUP, &action, NULL);
}

/* Said before the JVM is asked for anything. */
static bool has_directory(const char *output)
{
    const char *slash = strrchr(output, '/');
    char directory[PATH_MAX];
    struct stat about;
    snprintf(directory, sizeof directory, "%.*s", slash != NULL ? (int) (slash - output) + 1 : 1,
             slash != NULL ? output : ".");
    if (stat(directory, &about) == 0)
        return true;
    report_line("%s: %s", directory, strerror(errno));
    return false;
}

/* Never replaces a trace, unless the agent has that option and the JVM writes the file itself. */
static enum step_status choose_name(struct attachment *attachment)
{
    static char name[PATH_MAX];
    if (!attachment->process.is_elsewhere && recording_overwrites(&attachment->options))
        return STEP_STATUS_OK;
    if (!trace_name_free(attachment->wanted, name, sizeof name)) {
        struct stat about;
        bool is_known = lstat(attachment->wanted, &about) == 0 || errno == ENOENT;
        report_line("%s: %s", attachment->wanted,
                    is_known ? "neither this name nor one with a number is free" : strerror(errno));
        return STEP_STATUS_IO;
    }
    if (!has_directory(name))
        return STEP_STATUS_IO;
    if (strcmp(name, attachment->wanted) != 0)
        report_line("%s exists: the trace is %s", attachment->wanted, name);
    attachment->output = name;
    return STEP_STATUS_OK;
}

/* A trace that could not be fetched stays in place, so that the user can copy it. */
static enum step_status fetch(struct attachment *attachment)
{
    struct step_error error = {.offset = STEP_NO_OFFSET};
    struct shared_place *place = &attachment->place;
    enum step_status status = STEP_STATUS_BUSY;
    for (unsigned i = 0; i < NAMES_TRIED && status == STEP_STATUS_BUSY; i++) {
        status = shared_place_fetch(&attachment->process, place, attachment->output, &error);
        if (status == STEP_STATUS_BUSY && choose_name(attachment) != STEP_STATUS_OK)
            break;
    }
    if (status == STEP_STATUS_OK)
        return status;
    report_line("%s; the trace stays in %s of process %ld", error.message, place->trace,
                (long) attachment->process.pid);
    *place = (struct shared_place){.name = ""};
    return error.status;
}

/* Traces of other users are not opened here, nor those in containers. */
static bool may_be_read(const struct attachment *attachment)
{
    return attachment->place.name[0] == '\0' && !jvm_process_is_foreign(&attachment->process) &&
           strchr(attachment->output, '%') == NULL &&
           strstr(attachment->options.text, ",rotate=") == NULL;
}

/* Once in LOOK_NS, since the kernel takes the JVM's lock of mappings for the answer. */
static bool has_ended_itself(const struct attachment *attachment, struct trace_looks *looks)
{
    uint64_t now_ns = monotonic_ns();
    if (now_ns < looks->next_ns)
        return false;
    looks->next_ns = now_ns + LOOK_NS;
    looks->missing = is_recorded(attachment) ? 0 : looks->missing + 1;
    return looks->missing == LOOKS_MISSING;
}

/* Until the time is over, the JVM or its trace has ended, or a signal came. Returns for how long it
 * was recorded. */
static uint64_t wait_for_end(const struct attachment *attachment)
{
    const struct timespec pause = {.tv_nsec = 50000000};
    uint64_t start_ns = monotonic_ns();
    struct trace_looks looks = {.next_ns = start_ns};
    struct attach_progress progress;
    attach_progress_begin(&progress, may_be_read(attachment) ? attachment->output : NULL,
                          attachment->duration_ns);
    do {
        attach_progress_show(&progress);
        nanosleep(&pause, NULL);
    } while (!interrupted && jvm_process_is_there(&attachment->process) &&
             !has_ended_itself(attachment, &looks) &&
             (attachment->duration_ns == 0 || monotonic_ns() - start_ns < attachment->duration_ns));
    return attach_progress_end(&progress);
}

/* Says where the trace is to whoever looks on, or has interrupted the command. */
static void say_where(const struct attachment *attachment, uint64_t recorded_ns)
{
    if (interrupted || attachment->ended_itself || isatty(STDERR_FILENO) != 0)
        report_line("%s: recorded for %s%s", attachment->output,
                    quantity_of_ns((double) recorded_ns).text,
                    attachment->ended_itself ? ", until the trace ended by itself (property `end`)"
                    : interrupted            ? ", until interrupted"
                                             : "");
}

/* The JVM that records a sample makes the file, beside the sample's. */
static enum step_status record_window(struct attachment *attachment)
{
    double seconds = (double) attachment->window_ns / 1e9;
    enum step_status status = verb_attach_begin(attachment);
    if (status == STEP_STATUS_OK && strstr(attachment->options.text, ",start=") != NULL)
        report_line("when a method of start= is entered, all objects are recorded for %.1f s at "
                    "most, then the sample goes on (--status says whether it still waits)",
                    seconds);
    else if (status == STEP_STATUS_OK)
        report_line("all objects are recorded for %.1f s at most, then the sample goes on",
                    seconds);
    return status;
}

static enum step_status verb_attach_report(const struct attachment *attachment,
                                           const struct timespec *begun)
{
    const struct jvm_process *process = &attachment->process;
    bool was_fetched = attachment->place.name[0] != '\0';
    if (jvm_process_is_foreign(process))
        return was_fetched ? foreign_place_report(process, &attachment->place, attachment->output)
                           : foreign_traces_report(process, attachment->output, begun);
    return was_fetched ? report_of(attachment->output)
                       : traces_since(attachment->output, begun, process->pid, report_of);
}

/* What is lacking is reported once, by whoever reads the trace. */
static enum step_status report_lacks(const struct attachment *attachment,
                                     const struct timespec *begun)
{
    const struct jvm_process *process = &attachment->process;
    bool was_fetched = attachment->place.name[0] != '\0';
    if (jvm_process_is_foreign(process))
        return was_fetched
                   ? foreign_trace_lacks(process, attachment->place.trace, attachment->output)
                   : foreign_traces_lack(process, attachment->output, begun);
    return was_fetched ? lacks_of(attachment->output)
                       : traces_since(attachment->output, begun, process->pid, lacks_of);
}

/* --stop: the process has the name of its trace until it ends. */
static enum step_status stop(struct attachment *attachment)
{
    const struct jvm_process *process = &attachment->process;
    char path[PATH_MAX], name[PATH_MAX];
    struct step_error ignored;
    bool is_foreign = jvm_process_is_foreign(process);
    bool is_known = process_trace_find(process->pid, path, &ignored) == STEP_STATUS_OK &&
                    (is_foreign || process_file_find(process, path, name, sizeof name));
    enum step_status status = verb_attach_end(attachment);
    if (status != STEP_STATUS_OK || !is_known)
        return status;
    return is_foreign ? foreign_trace_lacks(process, path, path) : lacks_of(name);
}

/* --snapshot: a command to the agent that records already. */
static enum step_status verb_attach_snapshot(const struct attachment *attachment)
{
    char agent[PATH_MAX];
    struct step_error error = {.offset = STEP_NO_OFFSET};
    if (!agent_of(&attachment->process, attachment->agent, agent))
        return STEP_STATUS_IO;
    enum step_status status = attach_load(&attachment->process, agent, "snapshot", &error);
    return status == STEP_STATUS_OK ? status : report_error(&error);
}

static enum step_status verb_attach_record(struct attachment *attachment)
{
    struct timespec begun;
    clock_gettime(CLOCK_REALTIME_COARSE, &begun);
    catch_signals();
    enum step_status status = choose_name(attachment);
    if (status == STEP_STATUS_OK && isatty(STDERR_FILENO) != 0)
        report_line("process %ld: the agent is loaded, and loaded classes are changed",
                    (long) attachment->process.pid);
    if (status == STEP_STATUS_OK)
        status = verb_attach_begin(attachment);
    if (status != STEP_STATUS_OK)
        return status;
    bool waits = attachment->duration_ns != 0 || attachment->wait;
    if (!waits) {
        report_line("recording; `steptrace attach --stop %ld` ends it",
                    (long) attachment->process.pid);
        return STEP_STATUS_OK;
    }
    uint64_t recorded_ns = wait_for_end(attachment);
    status = verb_attach_end(attachment);
    if (status == STEP_STATUS_OK && attachment->place.name[0] != '\0')
        status = fetch(attachment);
    if (status == STEP_STATUS_OK)
        say_where(attachment, recorded_ns);
    output_signals_catch();
    if (status != STEP_STATUS_OK)
        return status;
    return attachment->report ? verb_attach_report(attachment, &begun)
                              : report_lacks(attachment, &begun);
}

static enum step_status attach_to(struct attachment *attachment, pid_t pid,
                                  const struct arguments *arguments)
{
    struct step_error error = {.offset = STEP_NO_OFFSET};
    bool waits = attachment->duration_ns != 0 || attachment->wait;
    if (jvm_process_find(pid, &attachment->process, &error) != STEP_STATUS_OK) {
        report_error(&error);
        return STEP_STATUS_IO;
    }
    if (attachment->dry_run)
        return attach_forecast(&attachment->process, &attachment->options);
    if (attachment->stop)
        return stop(attachment);
    if (attachment->snapshot)
        return verb_attach_snapshot(attachment);
    if (attachment->process.is_elsewhere && !waits)
        return arguments_fault(arguments,
                               "process %ld has a file system of its own (a container): give -d "
                               "TIME or --wait, so that its trace can be fetched",
                               (long) pid);
    if (attachment->process.is_elsewhere && strstr(attachment->options.text, ",rotate=") != NULL)
        return arguments_fault(arguments,
                               "process %ld has a file system of its own (a container): only one "
                               "trace can be fetched, so rotate= is not possible",
                               (long) pid);
    enum step_status status =
        attachment->window_ns != 0 ? record_window(attachment) : verb_attach_record(attachment);
    shared_place_remove(&attachment->process, &attachment->place);
    return status;
}

/* Returns the name of an option that was given beside `command`, which says something to the agent
 * that records already, and takes nothing but --agent; NULL: none was. */
static const char *given_beside(const struct arguments *arguments, const char *command)
{
    for (size_t i = 0; i < arguments->row_count; i++) {
        const char *name = arguments->rows[i].name;
        if ((arguments->given >> i & 1) != 0 && strcmp(name, command) != 0 &&
            strcmp(name, "agent") != 0)
            return name;
    }
    return NULL;
}

/* Refuses options that would not be looked at. */
static enum step_status check_command(const struct attachment *attachment,
                                      const struct arguments *arguments)
{
    const char *command = attachment->snapshot ? "snapshot"
                          : attachment->stop   ? "stop"
                          : attachment->status ? "status"
                                               : NULL;
    const char *other = command != NULL ? given_beside(arguments, command) : NULL;
    return other == NULL
               ? STEP_STATUS_OK
               : arguments_fault(arguments,
                                 "--%s is for a JVM that is being recorded, and excludes --%s",
                                 command, other);
}

static enum step_status verb_attach_run(struct attachment *attachment,
                                        const struct arguments *arguments)
{
    const char *fault;
    uint64_t pid;
    bool waits = attachment->duration_ns != 0 || attachment->wait;
    if (!take_count(&pid, arguments->operands[0], &fault) || pid == 0 || pid > INT_MAX)
        return arguments_fault(arguments, "'%s' is not a process id", arguments->operands[0]);
    if (check_command(attachment, arguments) != STEP_STATUS_OK)
        return STEP_STATUS_INVALID;
    if (attachment->status)
        return process_trace_print(arguments->operands[0]);
    if (attachment->report && !waits)
        return arguments_fault(arguments, "--report needs -d TIME or --wait");
    if (attachment->sample_bytes != 0 && !attachment->sampled)
        return arguments_fault(arguments, "--sample needs --sampled");
    if (attachment->window_ns != 0 && (attachment->sampled || waits))
        return arguments_fault(
            arguments,
            "--window needs a JVM that records a sample, and excludes --sampled, -d and --wait");
    if (strchr(attachment->wanted, ',') != NULL || strcmp(attachment->wanted, "-") == 0)
        return arguments_fault(arguments, "-o %s: a file is expected, without a comma in its name",
                               attachment->wanted);
    if (recording_check_name(arguments, attachment->wanted) != STEP_STATUS_OK)
        return STEP_STATUS_INVALID;
    attachment->output = attachment->wanted;
    /* A trace contains names and a command line, so by default only the user may read it. */
    umask(0777 & ~recording_mode(&attachment->options));
    enum step_status status = attach_to(attachment, (pid_t) pid, arguments);
    jvm_process_close(&attachment->process);
    return status;
}

static bool take_gentle(void *target, const char *value, const char **fault)
{
    (void) value;
    return recording_take_pair(target, "gentle=yes", fault);
}

static bool take_sample(void *uint64_target, const char *value, const char **fault)
{
    uint64_t bytes = 0;
    bool taken = take_size(&bytes, value, fault) && bytes > 0 && bytes <= SAMPLE_MOST;
    *fault = "a size from 1 to 1g is expected";
    *(uint64_t *) uint64_target = bytes;
    return taken;
}

static bool take_duration(void *uint64_target, const char *value, const char **fault)
{
    uint64_t *duration_ns = uint64_target;
    if (!take_time(duration_ns, value, fault))
        return false;
    *fault = "a time above 0 is expected";
    return *duration_ns > 0;
}

static bool take_window(void *uint64_target, const char *value, const char **fault)
{
    uint64_t *window_ns = uint64_target;
    bool taken = take_time(window_ns, value, fault) && *window_ns >= WINDOW_LEAST_NS &&
                 *window_ns <= WINDOW_MOST_NS;
    *fault = "a time from 1ms to 60min is expected";
    return taken;
}

enum step_status verb_attach(int argc, char **argv)
{
    /* The default for services is to write nothing into the JVM, unless -O internals= overrides
     * it. */
    struct attachment attachment = {.wanted = "run.step",
                                    .options = {",internals=safe"},
                                    .process = {.root = -1, .mount_namespace = -1}};
    const struct option_row rows[] = {
        {"duration", 'd', "TIME", "record for this time, as 30s or 10min", take_duration,
         &attachment.duration_ns},
        {"wait", 0, NULL, "record until interrupted, or until the JVM ends", take_flag,
         &attachment.wait},
        {"stop", 0, NULL, "end the trace of this JVM", take_flag, &attachment.stop},
        {"snapshot", 0, NULL, "add a snapshot of all references to the trace of this JVM",
         take_flag, &attachment.snapshot},
        {"status", 0, NULL, "print what this JVM records", take_flag, &attachment.status},
        {"sampled", 0, NULL, "record a sample of the objects (engine=sampled), 1,000 a second",
         take_flag, &attachment.sampled},
        {"sample", 0, "SIZE", "with --sampled: bytes from one sample to the next (512k)",
         take_sample, &attachment.sample_bytes},
        {"window", 0, "TIME", "while a sample is recorded: record all objects for this time",
         take_window, &attachment.window_ns},
        {"output", 'o', "FILE", "the trace (run.step)", take_text, &attachment.wanted},
        {"file", 'f', "FILE", "the same", take_text, &attachment.wanted},
        {"report", 0, NULL, "write FILE.html at the end; implies --stack=64", take_flag,
         &attachment.report},
        {"no-snapshot", 0, NULL,
         "with --report: take no snapshot of references at the end (default: if estimated below 1 "
         "s)",
         take_flag, &attachment.no_snapshot},
        {"events", 'e', "LIST",
         "events to record: class, alloc, free, thread, method, reference, or all but the last",
         recording_take_events, &attachment.options},
        {"stack", 0, "N", "record call stacks of allocations, N frames at most (0)",
         recording_take_stack, &attachment.options},
        {"gentle", 0, NULL, "change classes in slices with pauses (above 2,000 classes: always)",
         take_gentle, &attachment.options},
        {"dry-run", 0, NULL, "print classes, expected pauses and memory; change nothing", take_flag,
         &attachment.dry_run},
        {"option", 'O', "KEY=VALUE", "set any option of the agent", recording_take_pair,
         &attachment.options},
        {"mode", 0, "MODE", "permissions of the trace, octal (600)", recording_take_mode,
         &attachment.options},
        {"agent", 0, "PATH", "the agent, libtracer.so", take_text, &attachment.agent},
    };
    struct arguments arguments = ARGUMENTS_OF(help, rows);
    if (!arguments_read(&arguments, argc, argv, 1, 1))
        return arguments.status;
    enum step_status status = recording_check_answers(&arguments, attachment.report, false);
    return status == STEP_STATUS_OK ? verb_attach_run(&attachment, &arguments) : status;
}
