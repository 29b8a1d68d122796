/* SPDX-License-Identifier: Apache-2.0 */
/* What the sentences have in common: the names of classes and places, and their list. */
#ifndef ANALYSES_REPORT_FINDINGS_FINDINGS_TEXT_H
#define ANALYSES_REPORT_FINDINGS_FINDINGS_TEXT_H

#include "analyses/report/findings/findings.h"
#include "converter/heap/heap_sites.h"

enum { NAME_TEXT = 600 };

/* Writes a class as in Java source: java.lang.String, int[]. An array whose name is too long keeps
 * the form of the class file. */
void findings_put_class(struct step_bytes name, char out[NAME_TEXT]);
/* Writes " at com.acme.Shop.order(Shop.java:17)", or nothing for the root. */
void findings_put_place(const struct heap_sites *sites, uint32_t site, char out[NAME_TEXT]);
/* Returns the innermost line of the program's own code, or of the JDK if there is none, as a
 * place. */
uint32_t findings_place_of(const struct heap_sites *sites, uint32_t site,
                           struct heap_sites *places);
/* Returns a new finding at the end of the list, without its text. */
struct finding *findings_add(struct findings *out, enum finding_kind kind);

/* Adds what grows, if anything does.  Returns false if memory runs out. */
bool findings_find_growth(const struct findings_evidence *evidence, struct heap_sites *names,
                          struct findings *out);

#endif
