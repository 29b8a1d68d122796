/* SPDX-License-Identifier: Apache-2.0 */
/* Detects whether the JVM makes a class archive, from its flags and command line in the tables that
 * HotSpot exports for debuggers. */
#include "agent/hotspot/archive_dump.h"

#include <stddef.h>
#include <string.h>

#include "agent/base/agent_options.h"
#include "agent/hotspot/vm_structs.h"
#include "capture/log.h"

enum dump {
    DUMP_NONE,
    DUMP_BESIDE, /* a program runs, and an archive is made then or later */
    DUMP_ONLY    /* no program runs */
};

enum kind { IS_TRUE, IS_GIVEN, HAS_TEXT };

/* Reasons for an archive; the first one found counts. */
static const struct cause {
    const char *flag;
    enum kind kind;
    const char *text; /* HAS_TEXT: the flag's value */
    enum dump dump;
} causes[] = {
    {"DumpSharedSpaces", IS_TRUE, NULL, DUMP_ONLY}, /* -Xshare:dump, JDK 17 */
    {"AOTMode", HAS_TEXT, "create", DUMP_ONLY},
    {"AOTMode", HAS_TEXT, "record", DUMP_BESIDE},
    {"AOTCacheOutput", IS_GIVEN, NULL, DUMP_BESIDE},
    {"ArchiveClassesAtExit", IS_GIVEN, NULL, DUMP_BESIDE},
    {"DynamicDumpSharedSpaces", IS_TRUE, NULL, DUMP_BESIDE},
    {"AutoCreateSharedArchive", IS_TRUE, NULL, DUMP_BESIDE}, /* if the archive is missing or old */
    {"RecordDynamicDumpInfo", IS_TRUE, NULL, DUMP_BESIDE},   /* when jcmd asks for it */
};

static bool asks(const struct cause *cause)
{
    const void *value = vm_flag(cause->flag);
    const char *text = NULL;
    if (value == NULL)
        return false;
    if (cause->kind == IS_TRUE)
        return *(const bool *) value;
    memcpy(&text, value, sizeof text);
    return text != NULL && (cause->kind == IS_GIVEN || strcmp(text, cause->text) == 0);
}

/* Sets `*name` to the flag that requests the archive. */
static enum dump find_dump(const char **name)
{
    *name = "-Xshare:dump"; /* later JDKs have no flag for it */
    if (vm_argument_given(*name))
        return DUMP_ONLY;
    for (size_t i = 0; i < sizeof causes / sizeof causes[0]; i++) {
        *name = causes[i].flag;
        if (asks(&causes[i]))
            return causes[i].dump;
    }
    return DUMP_NONE;
}

bool archive_dump_allows(struct options *options)
{
    const char *name;
    enum dump dump = find_dump(&name);
    if (dump == DUMP_NONE || (dump == DUMP_BESIDE && options->engine != ENGINE_BYTECODE))
        return true;
    if (dump == DUMP_ONLY) {
        log_message("this JVM only writes a class data archive (%s): it is not traced", name);
        return false;
    }
    if (options->start_at.count + options->stop_at.count != 0) {
        log_message("this JVM writes a class data archive (%s), which needs engine=jvmti, but "
                    "options start, stop need engine=bytecode: it is not traced",
                    name);
        return false;
    }
    log_message("this JVM writes a class data archive (%s): it is traced with engine=jvmti", name);
    options->engine = ENGINE_JVMTI;
    return true;
}
