/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps verdicts, and says what the writers have in common. */
#include "converter/verdicts/verdict.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "converter/containers/name_index.h"
#include "format/core/grow.h"

struct verdict *verdict_list_add(struct verdict_list *list)
{
    if (!STEP_MAKE_ROOM(list->items, list->capacity, list->count + 1))
        return NULL;
    struct verdict *verdict = &list->items[list->count++];
    *verdict = (struct verdict){.state = VERDICT_PASSED};
    return verdict;
}

void verdict_list_reset(struct verdict_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        free(list->items[i].name);
        free(list->items[i].text);
        free(list->items[i].file);
    }
    free(list->items);
    *list = (struct verdict_list){.verb = list->verb};
}

size_t verdict_list_count(const struct verdict_list *list, enum verdict_state state)
{
    size_t count = 0;
    for (size_t i = 0; i < list->count; i++)
        count += list->items[i].state == state;
    return count;
}

struct step_bytes verdict_message(const struct verdict *verdict)
{
    const char *text = verdict->text != NULL ? verdict->text : verdict->name;
    text += strspn(text, " ");
    return (struct step_bytes){(const uint8_t *) text, strcspn(text, "\n")};
}

/* ---- places ---- */

static const char *workspace(void)
{
    const char *directory = getenv("GITHUB_WORKSPACE");
    if (directory == NULL || *directory != '/')
        directory = getenv("CI_PROJECT_DIR");
    return directory != NULL && *directory == '/' ? directory : NULL;
}

void verdict_path(const struct verdict *verdict, char *out, size_t out_size)
{
    char whole[2 * PATH_MAX], here[PATH_MAX];
    const char *path = verdict->file, *top = workspace();
    while (strncmp(path, "./", 2) == 0)
        path += 2 + strspn(path + 2, "/");
    snprintf(out, out_size, "%s", path);
    if (top == NULL || (*path != '/' && getcwd(here, sizeof here) == NULL))
        return;
    int length = *path == '/' ? snprintf(whole, sizeof whole, "%s", path)
                              : snprintf(whole, sizeof whole, "%s/%s", here, path);
    size_t top_length = strlen(top);
    while (top_length > 1 && top[top_length - 1] == '/')
        top_length--;
    if (length > 0 && (size_t) length < sizeof whole && strncmp(whole, top, top_length) == 0 &&
        whole[top_length] == '/')
        snprintf(out, out_size, "%s", whole + top_length + 1);
}

/* FNV-1a: the numbers must not change with a release. */
static uint64_t verdict_hash(uint64_t hash, const char *text)
{
    for (; *text != '\0'; text++)
        hash = (hash ^ (unsigned char) *text) * 0x100000001b3;
    return (hash ^ 0xff) * 0x100000001b3;
}

static uint64_t verdict_print(const struct verdict *verdict)
{
    uint64_t hash = verdict_hash(0xcbf29ce484222325, verdict->kind);
    hash = verdict_hash(hash, verdict->name);
    return verdict_hash(hash, verdict->file != NULL ? verdict->file : "");
}

bool verdict_list_number(struct verdict_list *list)
{
    struct name_index taken = {0};
    bool ok = true;
    for (size_t i = 0; ok && i < list->count; i++) {
        bool is_new = false;
        list->items[i].print = verdict_print(&list->items[i]);
        while (ok && !is_new) {
            ok = name_index_put(&taken, list->items[i].print, step_text(""), &is_new) != 0;
            list->items[i].print += !is_new;
        }
    }
    name_index_reset(&taken);
    return ok;
}
