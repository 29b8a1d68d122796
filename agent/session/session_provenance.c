/* SPDX-License-Identifier: Apache-2.0 */
/* The properties with which a trace begins: what made it, of which program, with what options, and
 * how the agent's self-tests ended. */
#include "agent/session/session.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "agent/base/internals.h"
#include "agent/base/jvm_classes.h"
#include "agent/base/tracer.h"
#include "agent/bytecode/engine_bytecode.h"
#include "agent/events/events.h"
#include "agent/events/memory_probes.h"
#include "agent/hotspot/headers.h"
#include "agent/records/layouts.h"
#include "capture/log.h"
#include "capture/provenance.h"
#include "capture/secrets.h"

/* A note on a collector that tracing slows down: logged once, and stored in each such trace. */
#define NOTE "young collections of generational ZGC free no object whose death is traced: "
#define NOTE_OF_ALL                                                                                \
    NOTE "the heap fills and collections take longer; events=class+alloc+thread avoids this, "     \
         "without "                                                                                \
         "deaths"
#define NOTE_OF_SAMPLE                                                                             \
    NOTE "the sampled ones, and what they refer to, stay until a collection of the old generation"

/* Sets the property `collector-note` if the session traces deaths under a collector whose young
 * collections free no traced object. Call before the session's first block. */
static void collector_note(const struct session *session)
{
    static _Atomic bool said;
    if ((session->options.events & (TRACED_FREE | TRACED_REFERENCE)) == 0 ||
        !collector_keeps_weakly_held())
        return;
    const char *note = session->options.engine == ENGINE_SAMPLED ? NOTE_OF_SAMPLE : NOTE_OF_ALL;
    step_writer_property(session->drain.writer, "collector-note", note);
    if (!atomic_exchange(&said, true))
        log_message("%s", note);
}

void session_put_property(struct session *session, const char *key, const char *value)
{
    step_writer_property(session->drain.writer, key, value);
}

#define COMMAND_LINE_MOST                                                                          \
    ((size_t) 4 << 20) /* the kernel's own limit is below, for most programs */

/* The property has blanks between the arguments, and in them. The kernel knows where each one ends,
 * if the command line ends with the same text. Returns false if it does not. */
static bool mask_as_arguments(char *value, size_t length)
{
    char *line = malloc(COMMAND_LINE_MOST);
    size_t got = line != NULL ? provenance_read("/proc/self/cmdline", line, COMMAND_LINE_MOST) : 0;
    got -= got > 0; /* the 0 byte of the last one */
    bool is_same = length > 0 && got >= length;
    const char *last = is_same ? line + got - length : NULL;
    for (size_t i = 0; i < length && is_same; i++)
        is_same = last[i] == value[i] || (last[i] == '\0' && value[i] == ' ');
    if (is_same) {
        memcpy(value, last, length);
        length = secrets_mask(value, length, '\0');
        for (size_t i = 0; i < length; i++)
            value[i] = value[i] != '\0' ? value[i] : ' ';
    }
    free(line);
    return is_same;
}

static void put_java_command(struct session *session)
{
    char *value = jvm_property("sun.java.command");
    if (value != NULL && !mask_as_arguments(value, strlen(value)))
        secrets_mask(value, strlen(value), ' ');
    if (value != NULL)
        session_put_property(session, "java-command", value);
    jvm_free(value);
}

static void put_system_property(struct session *session, const char *key, const char *name)
{
    char *value = jvm_property(name);
    if (value != NULL)
        session_put_property(session, key, value);
    jvm_free(value);
}

static void put_start_time(struct session *session)
{
    char text[64], zone[16];
    time_t seconds = (time_t) (tracer.start.wall_ns / 1000000000u);
    struct tm broken_down;
    gmtime_r(&seconds, &broken_down);
    strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &broken_down);
    snprintf(zone, sizeof zone, ".%09uZ", (unsigned) (tracer.start.wall_ns % 1000000000u));
    strncat(text, zone, sizeof text - strlen(text) - 1);
    session_put_property(session, "start-time", text);
    provenance_number(session->drain.writer, "start-time-ns", tracer.start.wall_ns);
}

/* The files of one recording have the same property file-set. */
static void put_file_set(struct session *session)
{
    const struct options *options = &session->options;
    char text[64];
    if (options->rotate_ns != 0) {
        provenance_number(session->drain.writer, "rotate-ns", options->rotate_ns);
        provenance_number(session->drain.writer, "keep", options->keep);
    }
    provenance_number(session->drain.writer, "file-number", options->file_number);
    provenance_number(session->drain.writer, "first-object", session->first_object);
    if (options->window_ns != 0)
        session_put_property(session, "window", "exact");
    snprintf(text, sizeof text, "%d-%" PRIu64 "-%" PRIu64, (int) getpid(), tracer.start.wall_ns,
             session->ring_number);
    session_put_property(session, "file-set", text);
}

static void put_sampled(struct session *session)
{
    const struct options *options = &session->options;
    provenance_number(session->drain.writer, "sample", options->sample_bytes);
    if (options->rate != 0)
        provenance_number(session->drain.writer, "rate", options->rate);
    session_put_property(session, "memory-probes", memory_probes_describe());
    if ((options->events & TRACED_FREE) != 0)
        provenance_number(session->drain.writer, "live", options->live);
    if (options->totals == TOTALS_THREADS)
        session_put_property(session, "totals", "threads");
    if (options->totals != TOTALS_WALK)
        return;
    session_put_property(session, "totals", "walk");
    provenance_number(session->drain.writer, "share", options->share);
}

static void put_engine(struct session *session)
{
    static const char *const names[] = {[ENGINE_JVMTI] = "jvmti",
                                        [ENGINE_BYTECODE] = "bytecode",
                                        [ENGINE_SAMPLED] = "sampled",
                                        [ENGINE_WALK] = "walk"};
    session_put_property(session, "engine", names[session->options.engine]);
    if (session->options.engine == ENGINE_SAMPLED)
        put_sampled(session);
    if (session->options.engine == ENGINE_WALK)
        provenance_number(session->drain.writer, "share", session->options.share);
    if (options_are_of_set(&session->options))
        put_file_set(session);
}

/* What was given on the command line, or with it: names of classes and files stand there, too. */
static void put_command_line(struct session *session)
{
    char text[16384];
    if ((session->options.redact & REDACT_COMMAND_LINE) == 0)
        provenance_host(session->drain.writer);
    if (session->options.redact != 0)
        return;
    provenance_command_line(session->drain.writer, (uint64_t) getpid(), text, sizeof text);
    put_java_command(session);
}

/* The options have names of methods and files. */
static void put_options(struct session *session)
{
    static const char *const redacted[] = {[REDACT_NAMES] = "names",
                                           [REDACT_COMMAND_LINE] = "command-line",
                                           [REDACT_NAMES | REDACT_COMMAND_LINE] =
                                               "names+command-line"};
    if (session->options.redact != 0)
        session_put_property(session, "redact", redacted[session->options.redact]);
    else
        session_put_property(session, "options", session->options.text);
}

/* Totals of classes are no events of allocations. */
static uint32_t recorded_events(const struct options *options)
{
    return options->engine == ENGINE_WALK ? options->events & ~(uint32_t) TRACED_ALLOC
                                          : options->events;
}

void session_put_provenance(struct session *session)
{
    char events[64];
    options_event_names(recorded_events(&session->options), events, sizeof events);
    session_put_property(session, "producer", "StepTrace libtracer.so " STEPTRACE_VERSION);
    put_engine(session);
    if (session->fallback != NULL)
        session_put_property(session, "engine-reason", session->fallback);
    if (session->incomplete != NULL)
        session_put_property(session, "incomplete", session->incomplete);
    session_put_property(session, "events", events);
    char internals[INTERNALS_TEXT];
    internals_describe(internals);
    session_put_property(session, "internals", internals);
    collector_note(session);
    if (session->options.method == METHOD_COUNT)
        session_put_property(session, "method", "count");
    if (leaf_methods_have_one_time(&session->options))
        session_put_property(session, "leaf-methods", "one time");
    put_options(session);
    if (stamps_are_times(session))
        provenance_number(session->drain.writer, "resolution-ns", session->options.resolution_ns);
    if (session->stamps.every != 0)
        provenance_number(session->drain.writer, STEP_LIVE_INTERPOLATED, session->stamps.every);
    session_put_property(session, "clock",
                         stamps_are_times(session) ? clock_name() : STEP_LIVE_CLOCK_NONE);
    put_start_time(session);
    session_put_property(session, "ring", session->drain.store->writer != NULL ? "memory" : "file");
    session_put_property(session, "attached", tracer.attached ? "yes" : "no");
    if (session->options.stack != 0)
        provenance_number(session->drain.writer, "stack", session->options.stack);
    if (session->options.engine != ENGINE_WALK)
        session_put_property(session, "existing", session->options.existing ? "yes" : "no");
    if (session->late && !session->options.missed)
        session_put_property(session, "missed", "no");
    if (session->padding_mask != 0) {
        char layout[LAYOUT_TEXT];
        layouts_describe(layout);
        session_put_property(session, "layout", layout);
    }
    if ((session->options.events & TRACED_REFERENCE) != 0)
        session_put_property(session, "references", "yes");
    if (session->options.collects)
        provenance_number(session->drain.writer, "collect", session->options.collect_every_bytes);
    provenance_number(session->drain.writer, "process-id", (uint64_t) getpid());
    put_system_property(session, "java-version", "java.version");
    put_system_property(session, "java-vm-name", "java.vm.name");
    put_system_property(session, "java-vm-version", "java.vm.version");
    put_system_property(session, "java-vm-info", "java.vm.info");
    put_system_property(session, "java-vm-vendor", "java.vm.vendor");
    put_command_line(session);
}
