/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/analyses/verb_output.h"

#include <CUnit/Basic.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "format/json/json_input.h"
#include "tests/unit/scratch.h"

#define ARGUMENTS 32
#define PATH_BYTES ((size_t) 512)

/* ---- what is printed ---- */

static struct scratch_heard last = {"", ""};

enum step_status run_verb(enum step_status (*verb)(int argc, char **argv), ...)
{
    char *words[ARGUMENTS];
    int count = 0;
    va_list arguments;
    va_start(arguments, verb);
    while ((words[count] = va_arg(arguments, char *)) != NULL && count < ARGUMENTS - 1)
        count++;
    va_end(arguments);
    words[count] = NULL;
    scratch_listen();
    enum step_status status = verb(count, words);
    last = scratch_hear();
    return status;
}

void run_printing(void (*print)(const void *user), const void *user)
{
    scratch_listen();
    print(user);
    last = scratch_hear();
}

const char *run_out(void)
{
    return last.out;
}

const char *run_err(void)
{
    return last.err;
}

bool run_printed(const char *text)
{
    return strstr(last.out, text) != NULL;
}

bool run_reported(const char *text)
{
    return strstr(last.err, text) != NULL;
}

/* ---- JSON: a list of paths with their values ---- */

struct json_value {
    char *path, *text;
};

static struct json_value *values;
static size_t value_count, value_capacity;

static void forget_values(void)
{
    for (size_t i = 0; i < value_count; i++) {
        free(values[i].path);
        free(values[i].text);
    }
    free(values);
    values = NULL;
    value_count = value_capacity = 0;
}

static void put_value(const char *path, const char *text, size_t length)
{
    if (value_count == value_capacity) {
        value_capacity = 2 * value_capacity + 64;
        values = realloc(values, value_capacity * sizeof *values);
        CU_ASSERT_PTR_NOT_NULL_FATAL(values);
    }
    values[value_count].path = strdup(path);
    values[value_count].text = strndup(text, length);
    value_count++;
}

static enum step_status take_value(struct json_input *input, enum json_token token, char *path,
                                   struct step_error *error);

/* The members of an object or an array, whose path ends at `end`. */
static enum step_status take_members(struct json_input *input, bool is_object, char *path,
                                     struct step_error *error)
{
    size_t end = strlen(path), index = 0;
    enum json_token token;
    enum step_status status = json_input_next(input, &token, error);
    while (status == STEP_STATUS_OK && token != JSON_OBJECT_END && token != JSON_ARRAY_END) {
        if (is_object) {
            snprintf(path + end, PATH_BYTES - end, "%s%s", end > 0 ? "." : "",
                     (const char *) json_input_text(input).data);
            status = json_input_next(input, &token, error);
        } else {
            snprintf(path + end, PATH_BYTES - end, "[%zu]", index++);
        }
        if (status == STEP_STATUS_OK)
            status = take_value(input, token, path, error);
        path[end] = '\0';
        if (status == STEP_STATUS_OK)
            status = json_input_next(input, &token, error);
    }
    return status;
}

static enum step_status take_value(struct json_input *input, enum json_token token, char *path,
                                   struct step_error *error)
{
    const char *word = token == JSON_TRUE     ? "true"
                       : token == JSON_FALSE  ? "false"
                       : token == JSON_NULL   ? "null"
                       : token == JSON_OBJECT ? "{"
                       : token == JSON_ARRAY  ? "["
                                              : NULL;
    if (word != NULL)
        put_value(path, word, strlen(word));
    else
        put_value(path, (const char *) json_input_text(input).data, json_input_text(input).length);
    return token == JSON_OBJECT || token == JSON_ARRAY
               ? take_members(input, token == JSON_OBJECT, path, error)
               : STEP_STATUS_OK;
}

bool json_parse(const char *text)
{
    char name[] = "/tmp/analysis-json-XXXXXX", path[PATH_BYTES] = "";
    struct json_input *input = NULL;
    struct step_error error = {.offset = STEP_NO_OFFSET};
    enum json_token token;
    FILE *file = fdopen(mkstemp(name), "wb");
    CU_ASSERT_PTR_NOT_NULL_FATAL(file);
    fputs(text, file);
    fclose(file);
    forget_values();
    enum step_status status = json_input_open(name, &input, &error);
    unlink(name);
    if (status == STEP_STATUS_OK)
        status = json_input_next(input, &token, &error);
    if (status == STEP_STATUS_OK)
        status = take_value(input, token, path, &error);
    if (status == STEP_STATUS_OK)
        status = json_input_next(input, &token, &error);
    bool is_whole = status == STEP_STATUS_OK && token == JSON_END;
    if (!is_whole)
        fprintf(stderr, "not JSON: %s\n%.400s\n", error.message, text);
    json_input_close(input);
    return is_whole;
}

bool run_json(void)
{
    return json_parse(last.out);
}

const char *json_at(const char *path)
{
    for (size_t i = 0; i < value_count; i++)
        if (strcmp(values[i].path, path) == 0)
            return values[i].text;
    return "(none)";
}

uint64_t json_number_at(const char *path)
{
    const char *text = json_at(path);
    CU_ASSERT_FATAL(text[0] >= '0' && text[0] <= '9');
    return strtoull(text, NULL, 10);
}

double json_real_at(const char *path)
{
    const char *text = json_at(path);
    CU_ASSERT_FATAL((text[0] >= '0' && text[0] <= '9') || text[0] == '-');
    return strtod(text, NULL);
}

size_t json_count(const char *path)
{
    char element[PATH_BYTES];
    CU_ASSERT_STRING_EQUAL_FATAL(json_at(path), "[");
    for (size_t count = 0;; count++) {
        snprintf(element, sizeof element, "%s[%zu]", path, count);
        if (strcmp(json_at(element), "(none)") == 0)
            return count;
    }
}
