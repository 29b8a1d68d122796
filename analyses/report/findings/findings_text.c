/* SPDX-License-Identifier: Apache-2.0 */
/* Names classes and places as in Java source. */
#include "analyses/report/findings/findings_text.h"

#include <stdio.h>
#include <string.h>

#include "converter/trace/event_selection.h"

void findings_put_class(struct step_bytes name, char out[NAME_TEXT])
{
    char text[NAME_TEXT];
    struct step_bytes java = trace_class_java_name(name, text, sizeof text);
    java = java.data != NULL ? java : name;
    size_t length = java.length < NAME_TEXT - 1 ? java.length : NAME_TEXT - 1;
    for (size_t i = 0; i < length; i++)
        out[i] = java.data[i] == '/' ? '.' : (char) java.data[i];
    out[length] = '\0';
}

void findings_put_place(const struct heap_sites *sites, uint32_t site, char out[NAME_TEXT])
{
    char text[HEAP_SITE_TEXT];
    out[0] = '\0';
    if (site == 0)
        return;
    size_t length = heap_site_print(sites, site, text, sizeof text);
    for (size_t i = 0; i < length && text[i] != '('; i++)
        if (text[i] == '/')
            text[i] = '.';
    snprintf(out, NAME_TEXT, " at %.*s", length < NAME_TEXT - 8 ? (int) length : NAME_TEXT - 8,
             text);
}

static bool is_of_jdk(const struct trace_names *names, uint32_t method_id)
{
    static const char *const packages[] = {"java/", "javax/", "jdk/", "sun/"};
    struct step_bytes name =
        trace_class_of(names, trace_method_of(names, method_id)->class_id)->name;
    for (size_t i = 0; i < sizeof packages / sizeof packages[0]; i++) {
        size_t length = strlen(packages[i]);
        if (name.length > length && memcmp(name.data, packages[i], length) == 0)
            return true;
    }
    return false;
}

uint32_t findings_place_of(const struct heap_sites *sites, uint32_t site, struct heap_sites *places)
{
    uint32_t own = site;
    while (own != 0 && is_of_jdk(sites->names, sites->items[own].method_id))
        own = sites->items[own].parent;
    own = own != 0 ? own : site;
    return own == 0 ? 0 : heap_sites_put_place(places, &sites->items[own]);
}

struct finding *findings_add(struct findings *out, enum finding_kind kind)
{
    static const char *const verbs[FINDING_KINDS] = {[FINDING_ALLOCATES] = "heap",
                                                     [FINDING_GROWS] = "leaks",
                                                     [FINDING_DIES] = "lifetimes",
                                                     [FINDING_HEAP] = "simulate"};
    struct finding *finding = &out->items[out->count++];
    *finding = (struct finding){.kind = kind, .verb = verbs[kind], .options = ""};
    return finding;
}
