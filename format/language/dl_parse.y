/* SPDX-License-Identifier: Apache-2.0 */
/* The grammar of STEP-DL 1.0 (STEP paper, Appendix A).  After a fault parsing continues behind the
 * next ';', behind the next block in braces, or at the next word that can begin a definition or a
 * part of a record.  A '}' that closes an open block is never skipped. */
%define api.pure full
%define api.prefix {step_dl_}
%define parse.error detailed
%locations
%lex-param { void *scanner }
%parse-param { struct dl_parse *parse } { void *scanner }
%expect 0

%code requires {
#include "format/language/dl_tree.h"

struct dl_record_body {
    const char *description;
    struct dl_attribute *attributes, *last_attribute;
    struct dl_field *fields, *last_field;
    struct dl_modifier *modifiers, *last_modifier;
};
}

%code {
#include <stdio.h>
#include <string.h>

#include "format/language/dl_parse.tab.h"
int step_dl_lex(STEP_DL_STYPE *value, STEP_DL_LTYPE *place, void *scanner);

static void step_dl_error(const STEP_DL_LTYPE *at, struct dl_parse *parse, void *scanner,
                          const char *message)
{
    (void) scanner;
    const char *text = strncmp(message, "syntax error, ", 14) == 0 ? message + 14 : message;
    if (strcmp(message, "memory exhausted") == 0)
        text = "this is nested too deep";
    if (parse->unended)
        return;
    dl_fault(parse, (struct dl_place){(uint32_t) at->first_line, (uint32_t) at->first_column},
             "%s", text);
}

#define PLACE(at) ((struct dl_place){(uint32_t) (at).first_line, (uint32_t) (at).first_column})
#define TAKE(pointer) ((pointer) = step_arena_zeroed(parse->arena, sizeof *(pointer)))
#define NEED(pointer)                                                                              \
    do {                                                                                           \
        if ((pointer) == NULL) {                                                                   \
            parse->out_of_memory = true;                                                           \
            YYABORT;                                                                               \
        }                                                                                          \
    } while (0)

/* Joins "a.b" and "c" to "a.b.c". */
static const char *join(struct dl_parse *parse, const char *package, const char *name,
                        struct dl_place place)
{
    size_t left = strlen(package), right = strlen(name);
    if (left + right + 1 > DL_NAME_LIMIT) {
        dl_fault(parse, place, "a name is longer than %u bytes", DL_NAME_LIMIT);
        return NULL;
    }
    if (left == 0)
        return name;
    char *joined = step_arena_zeroed(parse->arena, left + right + 2);
    if (joined != NULL)
        sprintf(joined, "%s.%s", package, name);
    return joined;
}
}

%union {
    const char *text;
    struct dl_attribute *attribute;
    struct { struct dl_attribute *first, *last; } attributes;
    struct dl_type *type;
    struct { struct dl_field *first, *last; } fields;
    struct dl_record_body body;
    struct { const char *name; bool drops; struct dl_place place; } parent;
    bool flag;
}

%token END_OF_TEXT 0 "end of text"
%token PACKAGE "package" RECORD "record" EXTENDS "extends"
%token INT "int" STRING "string" DATA "data"
%token <text> NAME "name" LITERAL "string literal"
%token BAD "character that has no place in STEP-DL"

%type <text> optional_literal path record_name
%type <attribute> attribute
%type <attributes> attributes attributes_1
%type <type> attributed_type type base_type
%type <fields> field_list field_defs field_def
%type <body> body
%type <parent> parent
%type <flag> bang modifier_sign

%%

text: definitions ;

definitions: %empty | definitions definition ;

definition:
    package
  | record
  | error
  | error ';'
  | error block
  ;

/* Skipped text. */
block: '{' any_words '}' ;

any_words: %empty | any_words any_word ;

any_word:
    NAME | LITERAL | PACKAGE | RECORD | EXTENDS | INT | STRING | DATA | BAD
  | '<' | '>' | ':' | ';' | ',' | '.' | '~' | '!' | '[' | ']'
  | block
  ;

package:
    PACKAGE record_name '{'
    {
        const char *outer = parse->package;
        if (++parse->package_depth > DL_PACKAGE_LIMIT) {
            dl_fault(parse, PLACE(@2), "packages are nested more than %u deep", DL_PACKAGE_LIMIT);
            YYABORT;
        }
        parse->package = join(parse, outer, $2, PLACE(@2));
        NEED(parse->package);
        uint32_t dots = 0;
        for (const char *at = parse->package; *at != '\0'; at++)
            dots += *at == '.';
        if (dots >= DL_PACKAGE_LIMIT) {
            dl_fault(parse, PLACE(@2), "packages are nested more than %u deep", DL_PACKAGE_LIMIT);
            YYABORT;
        }
        $<text>$ = outer;
    }
    definitions '}'
    {
        parse->package = $<text>4;
        parse->package_depth--;
    }
  ;

record:
    RECORD NAME optional_literal parent '{' body '}'
    {
        struct dl_record *record;
        NEED(TAKE(record));
        record->name = join(parse, parse->package, $2, PLACE(@2));
        NEED(record->name);
        record->package = parse->package;
        record->label = $3;
        record->parent = $4.name;
        record->parent_place = $4.place;
        record->drops_attributes = $4.drops;
        record->place = PLACE(@2);
        record->description = $6.description;
        record->attributes = $6.attributes;
        record->fields = $6.fields;
        record->modifiers = $6.modifiers;
        if (parse->last_record != NULL)
            parse->last_record->next = record;
        else
            parse->first_record = record;
        parse->last_record = record;
        if (++parse->record_count > DL_RECORD_LIMIT) {
            dl_fault(parse, record->place, "more than %u records", DL_RECORD_LIMIT);
            YYABORT;
        }
    }
  ;

optional_literal: %empty { $$ = NULL; } | LITERAL ;

parent:
    %empty { $$.name = NULL; $$.drops = false; $$.place = (struct dl_place){0, 0}; }
  | EXTENDS bang record_name { $$.name = $3; $$.drops = $2; $$.place = PLACE(@3); }
  ;

bang: %empty { $$ = false; } | '!' { $$ = true; } ;

record_name:
    NAME
  | record_name '.' NAME { $$ = join(parse, $1, $3, PLACE(@1)); NEED($$); }
  ;

body:
    optional_literal { memset(&$$, 0, sizeof $$); $$.description = $1; }
  | body attribute
    {
        $$ = $1;
        if ($1.last_attribute != NULL)
            $1.last_attribute->next = $2;
        else
            $$.attributes = $2;
        $$.last_attribute = $2;
    }
  | body field_list
    {
        $$ = $1;
        if ($1.last_field != NULL)
            $1.last_field->next = $2.first;
        else
            $$.fields = $2.first;
        $$.last_field = $2.last;
    }
  | body modifier_sign path attributes_1 ';'
    {
        struct dl_modifier *modifier;
        NEED(TAKE(modifier));
        modifier->replaces = $2;
        modifier->path = $3;
        modifier->place = PLACE(@3);
        modifier->attributes = $4.first;
        $$ = $1;
        if ($1.last_modifier != NULL)
            $1.last_modifier->next = modifier;
        else
            $$.modifiers = modifier;
        $$.last_modifier = modifier;
    }
  | body error { $$ = $1; }
  | body error ';' { $$ = $1; }
  | body error block { $$ = $1; }
  ;

modifier_sign: '~' { $$ = false; } | '!' { $$ = true; } ;

path:
    NAME
  | path '.' NAME { $$ = join(parse, $1, $3, PLACE(@1)); NEED($$); }
  ;

attributes:
    %empty { $$.first = $$.last = NULL; }
  | attributes_1
  ;

attributes_1:
    attribute { $$.first = $$.last = $1; }
  | attributes_1 attribute { $1.last->next = $2; $$.first = $1.first; $$.last = $2; }
  ;

attribute:
    '<' NAME ':' LITERAL '>'
    {
        NEED(TAKE($$));
        if (strlen($4) > DL_VALUE_LIMIT || strlen($2) > DL_NAME_LIMIT)
            dl_fault(parse, PLACE(@4), "an attribute is longer than %u bytes", DL_VALUE_LIMIT);
        $$->group = $2;
        $$->value = $4;
        $$->place = PLACE(@2);
    }
  ;

field_list:
    attributed_type field_defs ';'
    {
        for (struct dl_field *field = $2.first; field != NULL; field = field->next)
            field->type = $1;
        $$ = $2;
    }
  ;

field_defs:
    field_def
  | field_defs ',' field_def { $1.last->next = $3.first; $$.first = $1.first; $$.last = $3.last; }
  ;

field_def:
    NAME optional_literal attributes
    {
        struct dl_field *field;
        NEED(TAKE(field));
        if (strlen($1) > DL_NAME_LIMIT)
            dl_fault(parse, PLACE(@1), "a name is longer than %u bytes", DL_NAME_LIMIT);
        field->name = $1;
        field->description = $2;
        field->place = PLACE(@1);
        field->attributes = $3.first;
        $$.first = $$.last = field;
    }
  ;

attributed_type:
    type attributes { $$ = $1; $$->attributes = $2.first; }
  ;

type:
    base_type
  | attributed_type '[' ']' { NEED(TAKE($$)); $$->element = $1; $$->place = $1->place; }
  ;

base_type:
    INT { NEED(TAKE($$)); $$->kind = STEP_TYPE_INT; $$->place = PLACE(@1); }
  | STRING { NEED(TAKE($$)); $$->kind = STEP_TYPE_STRING; $$->place = PLACE(@1); }
  | DATA { NEED(TAKE($$)); $$->kind = STEP_TYPE_DATA; $$->place = PLACE(@1); }
  | record_name
    {
        NEED(TAKE($$));
        $$->kind = STEP_TYPE_RECORD;
        $$->name = $1;
        $$->place = PLACE(@1);
    }
  ;

%%
