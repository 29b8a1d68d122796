/* SPDX-License-Identifier: Apache-2.0 */
/* Reads traces of another user's JVM: a child with that user's rights finds and reads them, so a
 * link, a FIFO or another trace in their place shows that user nothing new and reaches nothing. */
#include "converter/recorders/foreign_traces.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "converter/cli/error_report.h"
#include "converter/cli/memory_limit.h"
#include "converter/cli/verb.h"
#include "converter/numbers/quantity.h"
#include "converter/output/output_file.h"
#include "converter/recorders/recording.h"

#define NAMES_MOST ((size_t) 1 << 16) /* bytes of the names of all traces */
#define NAMES_LIMIT_S 60u
#define PAGES_MOST (UINT64_C(1) << 30) /* bytes of all pages, and half of the free space */
#define PAGE_LIMIT_S 3600u
#define LACKS_LIMIT_S 600u

/* ---- in the child ---- */

struct search {
    const char *output;
    const struct timespec *start;
    const char *name; /* NULL: several traces, which have their own */
};

static int names_output;

static enum step_status send_name(const char *trace)
{
    size_t length = strlen(trace) + 1;
    return write(names_output, trace, length) == (ssize_t) length ? STEP_STATUS_OK : STEP_STATUS_IO;
}

/* What went wrong is on stderr already. */
static enum step_status answer_of(enum step_status status, struct step_error *error)
{
    if (status != STEP_STATUS_OK)
        *error = (struct step_error){.status = status, .offset = STEP_NO_OFFSET};
    return status;
}

static enum step_status find_traces(const struct jvm_process *process, void *context, int output,
                                    struct step_error *error)
{
    const struct search *search = context;
    memory_limit_set_default();
    names_output = output;
    return answer_of(traces_since(search->output, search->start, process->pid, send_name), error);
}

struct page {
    const char *trace; /* as the child sees it */
    const char *title;
    const char *path; /* the caller's */
    struct output_file file;
    bool is_open;
    uint64_t *left; /* bytes that may still come, of all pages */
};

/* Damage is no error of the answer: the page of the rest is there. */
static enum step_status send_page(const struct jvm_process *process, void *context, int output,
                                  struct step_error *error)
{
    const struct page *page = context;
    bool is_written = false;
    (void) process;
    memory_limit_set_default();
    enum step_status status = STEP_STATUS_IO;
    if (dup2(output, STDOUT_FILENO) >= 0)
        status = page_maker->write_out(page->trace, page->title, &is_written);
    if (status != STEP_STATUS_OK && !is_written)
        return step_error_set(error, status, NULL, STEP_NO_OFFSET, "%s: no page was written",
                              page->path);
    return answer_of(status, error);
}

static enum step_status report_lacks(const struct jvm_process *process, void *context, int output,
                                     struct step_error *error)
{
    const struct search *search = context;
    (void) output;
    memory_limit_set_default();
    return answer_of(search->name != NULL
                         ? lacks_as(search->output, search->name)
                         : traces_since(search->output, search->start, process->pid, lacks_of),
                     error);
}

/* ---- in the caller ---- */

static enum step_status foreign_traces_receive(void *receiver, const void *data, size_t length,
                                               struct step_error *error)
{
    struct page *page = receiver;
    bool fits = length <= *page->left;
    *page->left -= fits ? length : *page->left;
    if (!fits)
        return IO_FAIL(error,
                       "%s: the pages of this JVM would fill more than half of the space that was "
                       "free, or more than %s",
                       page->path, quantity_of_bytes((double) PAGES_MOST).text);
    enum step_status status =
        page->is_open ? STEP_STATUS_OK : output_file_open_own(&page->file, page->path, error);
    page->is_open = status == STEP_STATUS_OK;
    return page->is_open ? output_file_write(&page->file, data, length, error) : status;
}

static enum step_status fetch_page(const struct jvm_process *process, const char *trace,
                                   const char *output, bool enters_root, uint64_t *left)
{
    char path[PATH_MAX];
    struct step_error error = {.offset = STEP_NO_OFFSET};
    const char *slash = strrchr(output, '/');
    report_page_path(output, path, sizeof path);
    struct page page = {
        .trace = trace, .title = slash != NULL ? slash + 1 : output, .path = path, .left = left};
    const struct target_call call = {.work = send_page,
                                     .context = &page,
                                     .receive = foreign_traces_receive,
                                     .receiver = &page,
                                     .limit_s = PAGE_LIMIT_S,
                                     .enters_root = enters_root};
    enum step_status status = target_user_call(process, &call, &error);
    bool is_whole = status == STEP_STATUS_OK || error.message[0] == '\0';
    if (!is_whole)
        report_error(&error);
    if (!page.is_open)
        return status != STEP_STATUS_OK ? status : STEP_STATUS_IO;
    enum step_status ended =
        output_file_end(&page.file, is_whole ? STEP_STATUS_OK : status, &error);
    if (ended != STEP_STATUS_OK)
        return is_whole ? report_error(&error) : status;
    report_line("%s", path);
    return status;
}

static uint64_t pages_room(const char *output)
{
    uint64_t half = half_of_free_space(output);
    return half < PAGES_MOST ? half : PAGES_MOST;
}

/* The child has found the name, in a directory of the JVM's user: it leads to a page only where the
 * user wants the trace. */
static bool is_beside(const char *trace, const char *output)
{
    const char *slash = strrchr(output, '/');
    size_t length = slash != NULL ? (size_t) (slash + 1 - output) : 0;
    return strncmp(trace, output, length) == 0 && trace[length] != '\0' &&
           strchr(trace + length, '/') == NULL;
}

enum step_status foreign_traces_report(const struct jvm_process *process, const char *output,
                                       const struct timespec *start)
{
    static char names[NAMES_MOST];
    struct step_error error = {.offset = STEP_NO_OFFSET};
    struct search search = {output, start, NULL};
    struct target_text text = {.text = names, .size = sizeof names};
    const struct target_call call = {.work = find_traces,
                                     .context = &search,
                                     .receive = target_text_take,
                                     .receiver = &text,
                                     .limit_s = NAMES_LIMIT_S};
    enum step_status status = target_user_call(process, &call, &error);
    if (status != STEP_STATUS_OK)
        return error.message[0] != '\0' ? report_error(&error) : status;
    uint64_t left = pages_room(output);
    for (const char *name = names; name < names + text.length && left > 0;
         name += strlen(name) + 1) {
        enum step_status one = STEP_STATUS_IO;
        if (is_beside(name, output))
            one = fetch_page(process, name, name, false, &left);
        else
            report_line("%s: no page is written: the name of its directory has a %% sequence",
                        name);
        status = one != STEP_STATUS_OK ? one : status;
    }
    return status;
}

enum step_status foreign_place_report(const struct jvm_process *process,
                                      const struct shared_place *place, const char *output)
{
    uint64_t left = pages_room(output);
    return fetch_page(process, place->trace, output, true, &left);
}

static enum step_status find_lacks(const struct jvm_process *process, struct search *search,
                                   bool enters_root)
{
    struct step_error error = {.offset = STEP_NO_OFFSET};
    const struct target_call call = {.work = report_lacks,
                                     .context = search,
                                     .limit_s = LACKS_LIMIT_S,
                                     .enters_root = enters_root};
    enum step_status status = target_user_call(process, &call, &error);
    return status != STEP_STATUS_OK && error.message[0] != '\0' ? report_error(&error) : status;
}

enum step_status foreign_traces_lack(const struct jvm_process *process, const char *output,
                                     const struct timespec *start)
{
    return find_lacks(process, &(struct search){output, start, NULL}, false);
}

enum step_status foreign_trace_lacks(const struct jvm_process *process, const char *path,
                                     const char *name)
{
    return find_lacks(process, &(struct search){path, NULL, name}, process->is_elsewhere);
}
