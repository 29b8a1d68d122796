/* SPDX-License-Identifier: Apache-2.0 */
/* Resolves addresses of the traced process: modules from /proc/PID/maps, functions and lines by
 * libdw if the build has it.  Each address is resolved once. */
#include "malloc-recorder/drain/symbols.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/core/grow.h"
#include "format/core/page_map.h"
#if STEPTRACE_DW
#include <elfutils/libdwfl.h>
#endif

#define PATH_TEXT 512
#define NAME_TEXT 700

struct module {
    uint64_t start, end, offset; /* addresses; offset in the file */
    char path[PATH_TEXT];
};

struct symbols {
    uint64_t process;
    struct module *modules;
    size_t module_count, module_capacity;
    struct step_page_map texts; /* by address */
    char *module_lines;
    char *(*demangle)(const char *, char *, size_t *, int *);
#if STEPTRACE_DW
    Dwfl *dwfl;
#endif
};

/* ---- modules ---- */

static void read_maps(struct symbols *symbols)
{
    char line[PATH_TEXT + 128];
    snprintf(line, sizeof line, "/proc/%" PRIu64 "/maps", symbols->process);
    FILE *file = fopen(line, "re");
    if (file == NULL)
        return; /* it has ended; keep what is known */
    symbols->module_count = 0;
    while (fgets(line, sizeof line, file) != NULL) {
        struct module module = {0, 0, 0, ""};
        char rights[8];
        if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64 " %*s %*s %511[^\n]", &module.start,
                   &module.end, rights, &module.offset, module.path) < 4 ||
            strchr(rights, 'x') == NULL)
            continue;
        if (!STEP_MAKE_ROOM(symbols->modules, symbols->module_capacity, symbols->module_count + 1))
            break;
        symbols->modules[symbols->module_count++] = module;
    }
    fclose(file);
}

static const struct module *find_module(const struct symbols *symbols, uint64_t address)
{
    for (size_t i = 0; i < symbols->module_count; i++)
        if (address >= symbols->modules[i].start && address < symbols->modules[i].end)
            return &symbols->modules[i];
    return NULL;
}

/* ---- functions ---- */

#if STEPTRACE_DW
static char no_path[] = "";
static char *debug_path = no_path;
static const Dwfl_Callbacks callbacks = {.find_elf = dwfl_linux_proc_find_elf,
                                         .find_debuginfo = dwfl_standard_find_debuginfo,
                                         .debuginfo_path = &debug_path};

static void report_modules(struct symbols *symbols)
{
    if (symbols->dwfl == NULL)
        symbols->dwfl = dwfl_begin(&callbacks);
    if (symbols->dwfl == NULL)
        return;
    dwfl_report_begin_add(symbols->dwfl);
    dwfl_linux_proc_report(symbols->dwfl, (pid_t) symbols->process);
    dwfl_report_end(symbols->dwfl, NULL, NULL);
}

/* Writes "function file.c:123".  Returns 0 if the address has no name. */
static size_t name_function(struct symbols *symbols, uint64_t address, char *out, size_t size)
{
    Dwfl_Module *module =
        symbols->dwfl != NULL ? dwfl_addrmodule(symbols->dwfl, address - 1) : NULL;
    const char *name = module != NULL ? dwfl_module_addrname(module, address - 1) : NULL;
    if (name == NULL)
        return 0;
    int status = -1, line = 0;
    char *plain = symbols->demangle != NULL && strncmp(name, "_Z", 2) == 0
                      ? symbols->demangle(name, NULL, NULL, &status)
                      : NULL;
    Dwfl_Line *place = dwfl_module_getsrc(module, address - 1);
    const char *source = place != NULL ? dwfl_lineinfo(place, NULL, &line, NULL, NULL, NULL) : NULL;
    const char *slash = source != NULL ? strrchr(source, '/') : NULL;
    int length = source != NULL
                     ? snprintf(out, size, "%.*s %s:%d", NAME_TEXT, plain != NULL ? plain : name,
                                slash != NULL ? slash + 1 : source, line)
                     : snprintf(out, size, "%.*s", NAME_TEXT, plain != NULL ? plain : name);
    free(plain);
    return length > 0 && (size_t) length < size ? (size_t) length : 0;
}
#else
static void report_modules(struct symbols *symbols)
{
    (void) symbols;
}

static size_t name_function(struct symbols *symbols, uint64_t address, char *out, size_t size)
{
    (void) symbols;
    (void) address;
    (void) out;
    (void) size;
    return 0;
}
#endif

static size_t symbols_name_place(const struct module *module, uint64_t address, char *out,
                                 size_t size)
{
    const char *slash = module != NULL ? strrchr(module->path, '/') : NULL;
    int length =
        module != NULL && module->path[0] != '\0'
            ? snprintf(out, size, "%s+0x%" PRIx64, slash != NULL ? slash + 1 : module->path,
                       address - module->start + module->offset)
            : snprintf(out, size, "0x%" PRIx64, address);
    return (size_t) length < size ? (size_t) length : size - 1;
}

/* Replaces `;` in names, as it separates frames in the trace. */
static size_t symbols_look_up(struct symbols *symbols, uint64_t address, char *out, size_t size)
{
    const struct module *module = find_module(symbols, address - 1);
    if (module == NULL) {
        read_maps(symbols);
        report_modules(symbols);
        module = find_module(symbols, address - 1);
    }
    size_t length = name_function(symbols, address, out, size);
    if (length == 0)
        length = symbols_name_place(module, address, out, size);
    for (size_t i = 0; i < length; i++)
        if (out[i] == ';' || (unsigned char) out[i] < ' ')
            out[i] = '_';
    return length;
}

/* ---- what is remembered ---- */

size_t symbols_describe(void *user, uint64_t address, char *out, size_t size)
{
    struct symbols *symbols = user;
    char *text = step_page_map_find(&symbols->texts, address);
    if (text != NULL) {
        size_t whole = (size_t) snprintf(out, size, "%s", text);
        return whole < size ? whole : size - 1;
    }
    size_t length = symbols_look_up(symbols, address, out, size);
    text = address != 0 ? strndup(out, length) : NULL;
    if (text != NULL && !step_page_map_add(&symbols->texts, address, text))
        free(text);
    return length;
}

#if STEPTRACE_DW
static int put_module(Dwfl_Module *module, void **ignored, const char *name, Dwarf_Addr start,
                      void *data)
{
    struct symbols *symbols = data;
    const unsigned char *id;
    GElf_Addr where;
    char hexadecimal[80] = "";
    (void) ignored;
    (void) start;
    int length = dwfl_module_build_id(module, &id, &where);
    for (int i = 0; i < length && 2 * i + 3 < (int) sizeof hexadecimal; i++)
        snprintf(hexadecimal + 2 * i, 3, "%02x", id[i]);
    size_t used = symbols->module_lines != NULL ? strlen(symbols->module_lines) : 0;
    size_t more = strlen(name) + strlen(hexadecimal) + 3;
    char *grown = length > 0 ? realloc(symbols->module_lines, used + more) : NULL;
    if (grown != NULL) {
        snprintf(grown + used, more, "%s%s %s", used != 0 ? "\n" : "", name, hexadecimal);
        symbols->module_lines = grown;
    }
    return DWARF_CB_OK;
}
#endif

const char *symbols_modules(struct symbols *symbols)
{
#if STEPTRACE_DW
    if (symbols->module_lines == NULL && symbols->dwfl != NULL)
        dwfl_getmodules(symbols->dwfl, put_module, symbols, 0);
#endif
    return symbols->module_lines;
}

struct symbols *symbols_create(uint64_t process)
{
    struct symbols *symbols = calloc(1, sizeof *symbols);
    if (symbols == NULL)
        return NULL;
    symbols->process = process;
    void *library = dlopen("libstdc++.so.6", RTLD_NOW | RTLD_LOCAL);
    if (library != NULL)
        *(void **) &symbols->demangle = dlsym(library, "__cxa_demangle");
    return symbols;
}
