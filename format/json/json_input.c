/* SPDX-License-Identifier: Apache-2.0 */
/* JSON pull parser: a state holds what is expected next, a stack of bits the open arrays and
 * objects. */
#include "format/json/json_input.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "format/core/grow.h"
#include "format/core/step_no_memory.h"
#include "format/core/utf8.h"

#define BUFFER_BYTES 65536u

/* The tokens allowed next. */
enum expect {
    EXPECT_VALUE,
    EXPECT_VALUE_OR_END, /* after the start of an array */
    EXPECT_KEY,
    EXPECT_KEY_OR_END, /* after the start of an object */
    EXPECT_COLON,
    EXPECT_COMMA_OR_END,
    EXPECT_NOTHING /* the top value has ended */
};

struct json_input {
    gzFile file;
    const char *path; /* borrowed */
    enum expect expect;
    unsigned depth;
    bool is_object[JSON_INPUT_DEPTH_MAX];
    char *text;
    size_t length;
    size_t capacity;
    uint64_t offset; /* of the next byte */
    uint64_t token_offset;
    struct step_error failure; /* status OK: none */
    uint8_t *at, *end;
    uint8_t buffer[BUFFER_BYTES];
};

enum step_status json_input_open(const char *path, struct json_input **out,
                                 struct step_error *error)
{
    struct json_input *input = calloc(1, sizeof *input);
    if (input == NULL)
        return step_no_memory(error, path);
    input->path = path;
    input->at = input->end = input->buffer;
    input->capacity = 256;
    input->text = malloc(input->capacity);
    input->file = gzopen(path, "rbe");
    if (input->text == NULL || input->file == NULL) {
        enum step_status status = input->text == NULL ? STEP_STATUS_NO_MEMORY : STEP_STATUS_IO;
        step_error_set(error, status, path, STEP_NO_OFFSET, "cannot open: %s", strerror(errno));
        json_input_close(input);
        return status;
    }
    gzbuffer(input->file, BUFFER_BYTES);
    *out = input;
    return STEP_STATUS_OK;
}

void json_input_close(struct json_input *input)
{
    if (input == NULL)
        return;
    if (input->file != NULL)
        gzclose(input->file);
    free(input->text);
    free(input);
}

struct step_bytes json_input_text(const struct json_input *input)
{
    return (struct step_bytes){(const uint8_t *) input->text, input->length};
}

uint64_t json_input_offset(const struct json_input *input)
{
    return input->token_offset;
}

static enum step_status json_input_fail(struct json_input *input, enum step_status status,
                                        const char *message)
{
    return step_error_set(&input->failure, status, input->path, input->offset, "%s", message);
}

/* Returns the next byte without consuming it, or -1 at the end or on a failure. */
static int peek(struct json_input *input)
{
    if (input->at == input->end) {
        int got = gzread(input->file, input->buffer, BUFFER_BYTES);
        if (got < 0) {
            int code;
            const char *message = gzerror(input->file, &code);
            json_input_fail(input, code == Z_ERRNO ? STEP_STATUS_IO : STEP_STATUS_CORRUPT, message);
        }
        input->at = input->buffer;
        input->end = input->buffer + (got > 0 ? got : 0);
        if (got <= 0)
            return -1;
    }
    return *input->at;
}

static void json_input_pass(struct json_input *input)
{
    input->at++;
    input->offset++;
}

static enum step_status json_input_cut(struct json_input *input)
{
    if (input->failure.status != STEP_STATUS_OK)
        return input->failure.status;
    return json_input_fail(input, STEP_STATUS_CUT, "the JSON text is cut");
}

static bool add_byte(struct json_input *input, unsigned byte)
{
    if (input->length >= JSON_INPUT_TEXT_MAX) {
        json_input_fail(input, STEP_STATUS_LIMIT, "a string or number is longer than 1 MiB");
        return false;
    }
    if (!STEP_MAKE_ROOM(input->text, input->capacity, input->length + 2)) {
        json_input_fail(input, STEP_STATUS_NO_MEMORY, "out of memory");
        return false;
    }
    input->text[input->length++] = (char) byte;
    input->text[input->length] = '\0';
    return true;
}

static bool add_code(struct json_input *input, unsigned code)
{
    uint8_t bytes[4];
    size_t length = step_utf8_encode(bytes, code), i = 0;
    while (i < length && add_byte(input, bytes[i]))
        i++;
    return i == length;
}

static int hex_digit(int byte)
{
    if (byte >= '0' && byte <= '9')
        return byte - '0';
    if (byte >= 'a' && byte <= 'f')
        return byte - 'a' + 10;
    return byte >= 'A' && byte <= 'F' ? byte - 'A' + 10 : -1;
}

/* Reads four hexadecimal digits.  Returns UINT32_MAX and sets the failure if they are missing. */
static uint32_t read_unit(struct json_input *input)
{
    uint32_t unit = 0;
    for (int i = 0; i < 4; i++) {
        int digit = hex_digit(peek(input));
        if (digit < 0) {
            json_input_fail(input, STEP_STATUS_CORRUPT,
                            "four hexadecimal digits are expected after \\u");
            return UINT32_MAX;
        }
        unit = unit << 4 | (uint32_t) digit;
        json_input_pass(input);
    }
    return unit;
}

static bool read_short_escape(struct json_input *input)
{
    static const char names[] = "\"\\/bfnrt", values[] = "\"\\/\b\f\n\r\t";
    int byte = peek(input);
    const char *found = byte > 0 ? strchr(names, byte) : NULL;
    if (found == NULL) {
        if (byte < 0)
            json_input_cut(input);
        else
            json_input_fail(input, STEP_STATUS_CORRUPT, "no such escape");
        return false;
    }
    json_input_pass(input);
    return add_byte(input, (uint8_t) values[found - names]);
}

/* Reads the code unit after `\u`, and a low surrogate that follows a high one. */
static bool read_escaped_unit(struct json_input *input)
{
    uint32_t unit = read_unit(input);
    while (unit != UINT32_MAX && unit >= 0xd800 && unit <= 0xdbff && peek(input) == '\\') {
        json_input_pass(input);
        if (peek(input) != 'u') /* another escape follows the unpaired surrogate */
            return add_code(input, unit) && read_short_escape(input);
        json_input_pass(input);
        uint32_t next = read_unit(input);
        if (next != UINT32_MAX && next >= 0xdc00 && next <= 0xdfff)
            return add_code(input, 0x10000 + ((unit - 0xd800) << 10) + (next - 0xdc00));
        if (!add_code(input, unit))
            return false;
        unit = next;
    }
    return unit != UINT32_MAX && add_code(input, unit);
}

static bool read_escape(struct json_input *input)
{
    if (peek(input) != 'u')
        return read_short_escape(input);
    json_input_pass(input);
    return read_escaped_unit(input);
}

/* Reads a string after its opening quote. */
static enum step_status read_string(struct json_input *input)
{
    for (;;) {
        int byte = peek(input);
        if (byte < 0)
            return json_input_cut(input);
        if (byte < 0x20)
            return json_input_fail(input, STEP_STATUS_CORRUPT, "a control character in a string");
        json_input_pass(input);
        if (byte == '"')
            return STEP_STATUS_OK;
        if (byte == '\\' ? !read_escape(input) : !add_byte(input, (unsigned) byte))
            return input->failure.status;
    }
}

static bool read_digits(struct json_input *input)
{
    int byte = peek(input);
    if (byte < '0' || byte > '9') {
        json_input_fail(input, STEP_STATUS_CORRUPT, "a digit is expected");
        return false;
    }
    while (byte >= '0' && byte <= '9') {
        if (!add_byte(input, (unsigned) byte))
            return false;
        json_input_pass(input);
        byte = peek(input);
    }
    return true;
}

static bool take_one_of(struct json_input *input, const char *bytes)
{
    int byte = peek(input);
    if (byte <= 0 || strchr(bytes, byte) == NULL)
        return false;
    if (add_byte(input, (unsigned) byte))
        json_input_pass(input);
    return true;
}

static enum step_status json_input_read_number(struct json_input *input)
{
    bool ok;
    take_one_of(input, "-");
    ok = take_one_of(input, "0") || read_digits(input);
    if (ok && take_one_of(input, "."))
        ok = read_digits(input);
    if (ok && take_one_of(input, "eE")) {
        take_one_of(input, "+-");
        ok = read_digits(input);
    }
    return input->failure.status;
}

static enum step_status read_word(struct json_input *input, const char *word)
{
    for (; *word != '\0'; word++) {
        int byte = peek(input);
        if (byte < 0)
            return json_input_cut(input);
        if (byte != *word)
            return json_input_fail(input, STEP_STATUS_CORRUPT, "no JSON value begins here");
        json_input_pass(input);
    }
    return STEP_STATUS_OK;
}

static void end_value(struct json_input *input)
{
    input->expect = input->depth == 0 ? EXPECT_NOTHING : EXPECT_COMMA_OR_END;
}

static enum step_status open_container(struct json_input *input, bool is_object)
{
    if (input->depth == JSON_INPUT_DEPTH_MAX)
        return json_input_fail(input, STEP_STATUS_LIMIT,
                               "arrays and objects are nested too deeply");
    json_input_pass(input);
    input->is_object[input->depth++] = is_object;
    input->expect = is_object ? EXPECT_KEY_OR_END : EXPECT_VALUE_OR_END;
    return STEP_STATUS_OK;
}

static enum step_status read_value(struct json_input *input, int byte, enum json_token *token)
{
    enum step_status status;
    switch (byte) {
    case '{':
    case '[':
        *token = byte == '{' ? JSON_OBJECT : JSON_ARRAY;
        return open_container(input, byte == '{');
    case '"':
        *token = JSON_STRING;
        json_input_pass(input);
        status = read_string(input);
        break;
    case 't':
        *token = JSON_TRUE;
        status = read_word(input, "true");
        break;
    case 'f':
        *token = JSON_FALSE;
        status = read_word(input, "false");
        break;
    case 'n':
        *token = JSON_NULL;
        status = read_word(input, "null");
        break;
    default:
        if (byte != '-' && (byte < '0' || byte > '9'))
            return json_input_fail(input, STEP_STATUS_CORRUPT, "no JSON value begins here");
        *token = JSON_NUMBER;
        status = json_input_read_number(input);
        break;
    }
    end_value(input);
    return status;
}

static enum step_status close_container(struct json_input *input, bool is_object,
                                        enum json_token *token)
{
    if (input->depth == 0 || input->is_object[input->depth - 1] != is_object)
        return json_input_fail(input, STEP_STATUS_CORRUPT, "a bracket without its opening one");
    json_input_pass(input);
    input->depth--;
    *token = is_object ? JSON_OBJECT_END : JSON_ARRAY_END;
    end_value(input);
    return STEP_STATUS_OK;
}

static int json_input_skip_blanks(struct json_input *input)
{
    int byte = peek(input);
    while (byte == ' ' || byte == '\n' || byte == '\r' || byte == '\t') {
        json_input_pass(input);
        byte = peek(input);
    }
    return byte;
}

static enum step_status read_key(struct json_input *input, int byte, enum json_token *token)
{
    if (byte != '"')
        return json_input_fail(input, STEP_STATUS_CORRUPT, "a key is expected");
    json_input_pass(input);
    *token = JSON_KEY;
    input->expect = EXPECT_COLON;
    return read_string(input);
}

/* Consumes commas and colons, then reads a token or fails. */
static enum step_status read_token(struct json_input *input, enum json_token *token)
{
    int byte = json_input_skip_blanks(input);
    if (input->failure.status != STEP_STATUS_OK)
        return input->failure.status;
    if (byte == ',' && input->expect == EXPECT_COMMA_OR_END) {
        json_input_pass(input);
        input->expect = input->is_object[input->depth - 1] ? EXPECT_KEY : EXPECT_VALUE;
        byte = json_input_skip_blanks(input);
    } else if (byte == ':' && input->expect == EXPECT_COLON) {
        json_input_pass(input);
        input->expect = EXPECT_VALUE;
        byte = json_input_skip_blanks(input);
    }
    input->token_offset = input->offset;
    if (byte < 0) {
        *token = JSON_END;
        return input->expect == EXPECT_NOTHING ? STEP_STATUS_OK : json_input_cut(input);
    }
    if ((byte == '}' || byte == ']') &&
        (input->expect == EXPECT_COMMA_OR_END || input->expect == EXPECT_VALUE_OR_END ||
         input->expect == EXPECT_KEY_OR_END))
        return close_container(input, byte == '}', token);
    switch (input->expect) {
    case EXPECT_VALUE:
    case EXPECT_VALUE_OR_END:
        return read_value(input, byte, token);
    case EXPECT_KEY:
    case EXPECT_KEY_OR_END:
        return read_key(input, byte, token);
    case EXPECT_COLON:
        return json_input_fail(input, STEP_STATUS_CORRUPT, "a colon is expected");
    case EXPECT_COMMA_OR_END:
        return json_input_fail(input, STEP_STATUS_CORRUPT,
                               "a comma or a closing bracket is expected");
    default:
        return json_input_fail(input, STEP_STATUS_CORRUPT, "unexpected data after the JSON text");
    }
}

enum step_status json_input_next(struct json_input *input, enum json_token *token,
                                 struct step_error *error)
{
    input->length = 0;
    input->text[0] = '\0';
    if (input->failure.status == STEP_STATUS_OK)
        read_token(input, token);
    if (input->failure.status != STEP_STATUS_OK && error != NULL)
        *error = input->failure;
    return input->failure.status;
}

enum step_status json_input_skip(struct json_input *input, enum json_token token,
                                 struct step_error *error)
{
    if (token != JSON_OBJECT && token != JSON_ARRAY)
        return STEP_STATUS_OK;
    unsigned depth = input->depth - 1;
    enum step_status status = STEP_STATUS_OK;
    while (status == STEP_STATUS_OK && input->depth > depth)
        status = json_input_next(input, &token, error);
    return status;
}
