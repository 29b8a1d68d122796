/* SPDX-License-Identifier: Apache-2.0 */
/* Finds components relative to the running program, parses options of recorders, runs a command and
 * waits for it, and runs the verbs `report` and `heap` on its traces. */
#include "converter/recorders/recording.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "converter/cli/error_report.h"
#include "converter/cli/verb.h"
#include "converter/files/joined_files.h"
#include "converter/files/trace_files.h"
#include "converter/files/trace_gap.h"
#include "converter/files/trace_reader.h"
#include "converter/formats/format_table.h"
#include "converter/recorders/elf_program.h"
#include "format/core/input_file.h"
#include "steptrace/live.h"

/* ---- components: a JVM recognises a library that it has loaded only by the same path ---- */

static bool is_there(const char *place, char *path)
{
    return access(place, R_OK) == 0 && realpath(place, path) != NULL;
}

bool component_find(const char *name, const char *directory, const char *wanted,
                    const char *variable, char *path)
{
    if (wanted == NULL)
        wanted = secure_getenv(variable);
    if (wanted != NULL && wanted[0] != '\0')
        return is_there(wanted, path);
    char base[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", base, sizeof base - 1);
    if (length <= 0)
        return false;
    base[length] = '\0';
    char *slash = strrchr(base, '/');
    const char *const places[] = {directory, "../" STEPTRACE_LIBDIR "/steptrace",
                                  "../lib/steptrace", "."};
    for (size_t i = 0; slash != NULL && i < sizeof places / sizeof places[0]; i++) {
        char place[PATH_MAX + 256];
        snprintf(place, sizeof place, "%.*s/%s/%s", (int) (slash - base), base, places[i], name);
        if (is_there(place, path))
            return true;
    }
    return false;
}

bool agent_find(const char *wanted, char *path)
{
    bool found = component_find("libtracer.so", "../agent", wanted, "STEPTRACE_AGENT", path);
    if (!found)
        report_line("libtracer.so cannot be found; --agent=PATH or STEPTRACE_AGENT names it");
    return found;
}

bool agent_of(const struct jvm_process *process, const char *wanted, char *path)
{
    const char *loaded = process->agent;
    if (loaded[0] == '\0')
        return agent_find(wanted, path);
    snprintf(path, PATH_MAX, "%s", loaded); /* it may be gone: steptrace.jar removes its own */
    return true;
}

/* ---- options of recorders ---- */

bool recording_take_pair(void *options_target, const char *value, const char **fault)
{
    struct recording_options *options = options_target;
    size_t used = strlen(options->text);
    *fault = "key=value is expected, and less than 8 KiB in all (-O options=FILE takes more)";
    if (value[0] == '\0' || value[0] == '=' || used + strlen(value) + 2 > sizeof options->text)
        return false;
    snprintf(options->text + used, sizeof options->text - used, ",%s", value);
    return true;
}

/* The agent's lists use `+` where users write a comma. */
bool recording_take_events(void *options_target, const char *value, const char **fault)
{
    char pair[256];
    int length = snprintf(pair, sizeof pair, "events=%s", value);
    for (char *at = pair; *at != '\0'; at++)
        *at = *at == ',' ? '+' : *at;
    bool taken = value[0] != '\0' && length < (int) sizeof pair &&
                 recording_take_pair(options_target, pair, fault);
    *fault = "class, alloc, free, thread, method or all is expected, with + between";
    return taken;
}

bool recording_take_stack(void *options_target, const char *value, const char **fault)
{
    char pair[32];
    bool is_number = value[0] != '\0' && strspn(value, "0123456789") == strlen(value) &&
                     strlen(value) <= 4 && atoi(value) <= 1024;
    snprintf(pair, sizeof pair, "stack=%s", is_number ? value : "");
    bool taken = is_number && recording_take_pair(options_target, pair, fault);
    *fault = "a number is expected, at most 1024";
    return taken;
}

bool recording_take_mode(void *options_target, const char *value, const char **fault)
{
    char *end = NULL, pair[32];
    unsigned long mode = value[0] >= '0' && value[0] <= '7' ? strtoul(value, &end, 8) : 0;
    snprintf(pair, sizeof pair, "mode=%lo", mode);
    bool taken =
        (mode & ~066ul) == 0600 && *end == '\0' && recording_take_pair(options_target, pair, fault);
    *fault = "an octal mode from 600 to 666 is expected";
    return taken;
}

/* Returns the value of the last `key=` (`key` includes the =), up to a comma or the end, or
 * NULL. */
static const char *find_last(const struct recording_options *options, const char *key)
{
    const char *found = NULL;
    for (const char *at = options->text; *at != '\0'; at += strcspn(at, ",")) {
        at += strspn(at, ",");
        if (strncmp(at, key, strlen(key)) == 0)
            found = at + strlen(key);
    }
    return found;
}

bool recording_has_pair(const struct recording_options *options, const char *pair)
{
    const char *rest = find_last(options, pair);
    return rest != NULL && (*rest == ',' || *rest == '\0');
}

bool recording_has_handlers(const struct recording_options *options)
{
    const char *events = find_last(options, "events="), *engine = find_last(options, "engine=");
    if (engine != NULL && strncmp(engine, "bytecode", strlen("bytecode")) != 0)
        return false;
    while (events != NULL && *events != ',' && *events != '\0') {
        size_t length = strcspn(events, "+,");
        if ((length == strlen("all") && memcmp(events, "all", length) == 0) ||
            (length == strlen("method") && memcmp(events, "method", length) == 0))
            return true;
        events += length + (events[length] == '+');
    }
    return false;
}

mode_t recording_mode(const struct recording_options *options)
{
    const char *mode = find_last(options, "mode=");
    return mode != NULL ? (mode_t) strtoul(mode, NULL, 8) & 0666 : 0600;
}

bool recording_overwrites(const struct recording_options *options)
{
    const char *overwrite = find_last(options, "overwrite=");
    return overwrite != NULL && strncmp(overwrite, "yes", 3) == 0;
}

void escape_percents(const char *path, char *escaped)
{
    for (; *path != '\0'; path++) {
        if (*path == '%')
            *escaped++ = '%';
        *escaped++ = *path;
    }
    *escaped = '\0';
}

bool recording_file_name(const char *output, char *name, size_t size)
{
    char directory[PATH_MAX] = "", escaped[2 * PATH_MAX];
    bool is_here = output[0] != '/';
    if (is_here && getcwd(directory, sizeof directory) == NULL) {
        report_line("the working directory has no name: %s", strerror(errno));
        return false;
    }
    escape_percents(directory, escaped);
    int length = snprintf(name, size, "%s%s%s", escaped, is_here ? "/" : "", output);
    if (strchr(name, ',') != NULL)
        report_line("%s: the agent's options accept no comma in a name: write to another directory",
                    name);
    else if (length < 0 || (size_t) length >= size)
        report_line("%s: the name is too long", output);
    else
        return true;
    return false;
}

/* ---- the command ---- */

#define COMMAND_NOT_STARTED 127

bool command_find(const char *command, char *path, size_t size)
{
    const char *directories = getenv("PATH");
    if (strchr(command, '/') != NULL)
        return snprintf(path, size, "%s", command) < (int) size;
    for (const char *at = directories; at != NULL && *at != '\0';) {
        int length = (int) strcspn(at, ":");
        int written = snprintf(path, size, "%.*s/%s", length, at, command);
        if (written < (int) size && access(path, X_OK) == 0)
            return true;
        at += length + (at[length] == ':');
    }
    return false;
}

void command_exec(char **words)
{
    char path[PATH_MAX];
    if (command_find(words[0], path, sizeof path) && elf_has_magic(path))
        execv(path, words);
    else
        execvp(words[0], words);
}

const char *command_error(int code)
{
    return code == ENOEXEC ? "this system cannot run the file: a program that is damaged, or of "
                             "another kind of machine"
                           : strerror(code);
}

enum step_status command_fail(const char *verb, const char *what, const char *why)
{
    fprintf(stderr, "steptrace %s: %s: %s\n", verb, what, why);
    return STEP_STATUS_IO;
}

static volatile sig_atomic_t child_process;
static int child_signal;

int command_signal(void)
{
    return child_signal;
}

/* What the terminal sends has reached the child too. */
static void recording_pass_on(int number, siginfo_t *from, void *context)
{
    (void) context;
    if (child_process > 0 && from->si_code != SI_KERNEL)
        kill((pid_t) child_process, number);
}

/* As a container's first process, this is also the parent of all orphans, including drains. */
static void recording_wait_for(pid_t child)
{
    int status = 0;
    pid_t ended;
    do
        ended = waitpid(-1, &status, 0);
    while (ended != child && (ended >= 0 || errno == EINTR));
    child_process = 0;
    child_signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    verb_exit_code = child_signal != 0 ? 128 + child_signal : WEXITSTATUS(status);
}

enum step_status command_run(const char *verb, char **words, bool (*prepare)(const void *user),
                             const void *user, pid_t *process)
{
    static const int signals[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP};
    enum { SIGNALS = sizeof signals / sizeof signals[0] };
    struct sigaction before[SIGNALS], passing = {.sa_flags = SA_SIGINFO | SA_RESTART};
    int report[2], code = 0;
    passing.sa_sigaction = recording_pass_on;
    sigemptyset(&passing.sa_mask);
    if (pipe2(report, O_CLOEXEC) != 0)
        return command_fail(verb, words[0], strerror(errno));
    fflush(NULL);
    for (size_t i = 0; i < SIGNALS; i++)
        sigaction(signals[i], NULL, &before[i]);
    pid_t child = *process = fork(); /* what is ignored, as by nohup, stays so */
    if (child == 0) {
        if (prepare == NULL || prepare(user))
            command_exec(words);
        code = errno;
        _exit(write(report[1], &code, sizeof code) > 0 ? COMMAND_NOT_STARTED - 1
                                                       : COMMAND_NOT_STARTED);
    }
    child_process = (sig_atomic_t) child;
    for (size_t i = 0; i < SIGNALS; i++)
        if (before[i].sa_handler != SIG_IGN)
            sigaction(signals[i], &passing, NULL);
    code = child < 0 ? errno : 0;
    close(report[1]);
    if (child > 0 && read(report[0], &code, sizeof code) != (ssize_t) sizeof code)
        code = 0; /* it was started */
    close(report[0]);
    if (child > 0)
        recording_wait_for(child);
    for (size_t i = 0; i < SIGNALS; i++)
        sigaction(signals[i], &before[i], NULL); /* what is still to be done can be interrupted */
    return code == 0 ? STEP_STATUS_OK : command_fail(verb, words[0], command_error(code));
}

/* ---- names ---- */

enum step_status recording_check_name(const struct arguments *arguments, const char *output)
{
    const struct trace_format *format = trace_format_by_ending(output);
    size_t length = strlen(output), page = sizeof ".html" - 1;
    if (length >= page && strcasecmp(output + length - page, ".html") == 0)
        return arguments_fault(arguments,
                               "-o %s: the trace needs another name; with -o %.*s.step and "
                               "--report the page is %s",
                               output, (int) (length - page), output, output);
    if (format == NULL || strcmp(format->name, "step") == 0)
        return STEP_STATUS_OK;
    size_t stem = trace_format_stem_length(output);
    return arguments_fault(arguments,
                           "-o %s: a JVM is recorded as a STEP trace: take -o %.*s.step, then "
                           "`steptrace convert %.*s.step -o %s`",
                           output, (int) stem, output, (int) stem, output, output);
}

/* ---- reports ---- */

void report_page_path(const char *trace, char *page, size_t size)
{
    size_t length = strlen(trace);
    size_t stem = length > 5 && strcmp(trace + length - 5, ".step") == 0 ? length - 5 : length;
    snprintf(page, size, "%.*s.html", (int) stem, trace);
}

enum step_status recording_check_answers(const struct arguments *arguments, bool report,
                                         bool summary)
{
    if (report && page_maker == NULL)
        return arguments_fault(arguments, "--report: this build has no command `report`");
    if (summary && verb_find("heap") == NULL)
        return arguments_fault(arguments, "--summary: this build has no command `heap`");
    return STEP_STATUS_OK;
}

enum step_status report_of(const char *trace)
{
    char page[PATH_MAX], input[PATH_MAX];
    bool is_written;
    report_page_path(trace, page, sizeof page);
    snprintf(input, sizeof input, "%s%s", trace[0] == '-' ? "./" : "", trace);
    enum step_status status = page_maker->write_beside(input, page, &is_written);
    if (is_written)
        report_line("%s", page);
    return status;
}

enum step_status summary_of(const char *trace)
{
    static char allocated[] = "--allocated", end[] = "--at=end", site[] = "--by=site";
    static char rows[] = "--top=5", depth[] = "--depth=3";
    const struct verb *heap = verb_find("heap");
    char input[PATH_MAX];
    snprintf(input, sizeof input, "%s%s", trace[0] == '-' ? "./" : "", trace);
    char *arguments[] = {input, allocated, end, site, rows, depth, NULL};
    int output = dup(STDOUT_FILENO); /* the program's; the summary is none of its output */
    if (output < 0)
        return STEP_STATUS_IO;
    fflush(stdout);
    report_line("%s", trace);
    enum step_status status = STEP_STATUS_IO;
    if (dup2(STDERR_FILENO, STDOUT_FILENO) >= 0)
        status = heap->run(6, arguments);
    fflush(stdout);
    dup2(output, STDOUT_FILENO);
    close(output);
    return status;
}

enum step_status lacks_as(const char *trace, const char *name)
{
    struct step_reader *reader = NULL;
    struct step_error error = {.offset = STEP_NO_OFFSET};
    enum step_status status = open_with_given_definition(trace, NULL, &reader, &error);
    if (status != STEP_STATUS_OK) {
        snprintf(error.file, sizeof error.file, "%s", name);
        return report_error(&error);
    }
    status = report_reader_damage(reader, name);
    step_reader_destroy(reader);
    return status;
}

enum step_status lacks_of(const char *trace)
{
    return lacks_as(trace, trace);
}

/* Replaces each % sequence with a wildcard, and escapes the special characters of glob(). */
static void make_pattern(const char *name, size_t length, char *out, size_t size)
{
    size_t used = strlen(out);
    for (size_t i = 0; i < length && used + 3 < size; i++) {
        if (name[i] == '%' && i + 1 < length) {
            i++;
            out[used++] = name[i] == '%' ? '%' : '*';
            continue;
        }
        if (strchr("*?[\\", name[i]) != NULL)
            out[used++] = '\\';
        out[used++] = name[i];
    }
    out[used] = '\0';
}

/* Finds all files of that name, and of the alternatives that recorders use if it exists. */
static void find_files(const char *name, glob_t *found)
{
    char pattern[2 * PATH_MAX] = "";
    const char *slash = strrchr(name, '/');
    const char *ending = strrchr(slash != NULL ? slash : name, '.');
    size_t stem = ending != NULL ? (size_t) (ending - name) : strlen(name);
    make_pattern(name, strlen(name), pattern, sizeof pattern);
    int code = glob(pattern, 0, NULL, found);
    pattern[0] = '\0';
    make_pattern(name, stem, pattern, sizeof pattern - 8);
    strcat(pattern, ".[1-9]*");
    make_pattern(name + stem, strlen(name + stem), pattern, sizeof pattern);
    glob(pattern, code == 0 ? GLOB_APPEND : 0, NULL, found);
}

/* Sets `*made` to the number of traces. */
static enum step_status do_all(const glob_t *found, const struct timespec *start, pid_t process,
                               enum step_status (*each)(const char *trace), size_t *made)
{
    enum step_status status = STEP_STATUS_OK;
    for (size_t i = 0; i < found->gl_pathc; i++) {
        if (!trace_is_since(found->gl_pathv[i], start) ||
            (process != 0 && !trace_is_of_process(found->gl_pathv[i], process, false)))
            continue;
        enum step_status one = each(found->gl_pathv[i]);
        status = one != STEP_STATUS_OK ? one : status;
        ++*made;
    }
    return status;
}

bool traces_exist(const char *name, const struct timespec *start)
{
    glob_t found = {.gl_pathc = 0};
    bool exist = rotated_files_exist(name);
    find_files(name, &found);
    for (size_t i = 0; i < found.gl_pathc && !exist; i++)
        exist = trace_is_since(found.gl_pathv[i], start);
    globfree(&found);
    return exist;
}

enum step_status traces_since(const char *name, const struct timespec *start, pid_t process,
                              enum step_status (*each)(const char *trace))
{
    glob_t found = {.gl_pathc = 0};
    enum step_status status = STEP_STATUS_OK;
    size_t made = 0;
    find_files(name, &found);
    if (process != 0)
        status = do_all(&found, start, process, each, &made);
    if (made == 0)
        status = do_all(&found, start, 0, each, &made);
    globfree(&found);
    if (made > 0)
        return status;
    if (rotated_files_exist(name))
        return each(name);
    report_line("%s: there is no trace", name);
    return STEP_STATUS_IO;
}

/* ---- the trace of a process, which has its live file mapped ---- */

static bool is_process(const char *text, long *pid)
{
    uint64_t number;
    const char *fault;
    bool is = take_count(&number, text, &fault) && number > 0 && number <= INT_MAX;
    *pid = is ? (long) number : 0;
    return is;
}

/* Extracts the trace's path as the process sees it: that of the live file without its extension. */
static bool take_live_path(char *line, char *path, size_t size)
{
    static const size_t suffix = sizeof STEP_LIVE_SUFFIX - 1;
    line[strcspn(line, "\n")] = '\0';
    char *name = strchr(line, '/');
    size_t length = name != NULL ? strlen(name) : 0;
    if (length <= suffix || length - suffix >= size ||
        strcmp(name + length - suffix, STEP_LIVE_SUFFIX) != 0)
        return false;
    memcpy(path, name, length - suffix);
    path[length - suffix] = '\0';
    return true;
}

enum step_status process_trace_find(long pid, char *path, struct step_error *error)
{
    char name[64], line[PATH_MAX + 128];
    snprintf(name, sizeof name, "/proc/%ld/maps", pid);
    FILE *maps = input_file_stream(name, INPUT_STREAM);
    bool has_live = false;
    while (maps != NULL && !has_live && fgets(line, sizeof line, maps) != NULL)
        has_live = take_live_path(line, path, PATH_MAX);
    int code = errno;
    bool unreadable = maps == NULL || (!has_live && ferror(maps) != 0);
    if (maps != NULL)
        fclose(maps);
    if (unreadable && (code == ENOENT || code == ESRCH))
        return REFUSE(error, "there is no process %ld, and no such file", pid);
    if (unreadable)
        return REFUSE(error, "process %ld: %s; run as its user or root", pid, strerror(code));
    if (!has_live)
        return REFUSE(error,
                      "process %ld is not being recorded; if it is a JVM, `steptrace attach -o "
                      "run.step %ld` begins a trace, and `steptrace watch run.step` shows it",
                      pid, pid);
    return STEP_STATUS_OK;
}

/* The rights of the process's user may not be enough to look into /proc/PID/root, but the
 * descriptor is open. */
bool process_file_find(const struct jvm_process *process, const char *path, char *out, size_t size)
{
    char root[PATH_MAX + 32];
    struct stat here, there;
    snprintf(root, sizeof root, "/proc/%ld/root%s", (long) process->pid, path);
    bool is_there = stat(trace_live_path(root).text, &there) == 0;
    if (!is_there) {
        snprintf(root, sizeof root, "/proc/self/fd/%d%s", process->root, path);
        is_there = stat(trace_live_path(root).text, &there) == 0;
    }
    bool is_here = stat(trace_live_path(path).text, &here) == 0 &&
                   (!is_there || (here.st_dev == there.st_dev && here.st_ino == there.st_ino));
    int length = snprintf(out, size, "%s", is_here ? path : root);
    return (is_here || is_there) && length > 0 && (size_t) length < size;
}

/* Another user's files are opened with that user's rights: whatever has the trace's name shows
 * nothing that the user may not read.  The process's root directory stays open. */
static enum step_status recording_reach(struct watch_target *target, const char *path,
                                        struct step_error *error)
{
    struct jvm_process process;
    enum step_status status = jvm_process_find_files((pid_t) target->pid, &process, error);
    if (status == STEP_STATUS_OK && jvm_process_is_foreign(&process))
        status = target_user_become(&process, error);
    if (status == STEP_STATUS_OK &&
        !process_file_find(&process, path, target->path, sizeof target->path))
        status = REFUSE(error, "the trace of process %ld cannot be reached: %s: %s", target->pid,
                        path, strerror(errno));
    if (status != STEP_STATUS_OK)
        jvm_process_close(&process);
    return status;
}

enum step_status watch_target_find(const char *operand, struct watch_target *target,
                                   struct step_error *error)
{
    char path[PATH_MAX];
    *target = (struct watch_target){.pid = 0};
    if (access(operand, F_OK) == 0 || !is_process(operand, &target->pid)) {
        target->pid = 0;
        if (snprintf(target->path, sizeof target->path, "%s", operand) < (int) sizeof target->path)
            return STEP_STATUS_OK;
        return REFUSE(error, "the name is too long");
    }
    enum step_status status = process_trace_find(target->pid, path, error);
    return status == STEP_STATUS_OK ? recording_reach(target, path, error) : status;
}
