/* SPDX-License-Identifier: Apache-2.0 */
/* The grammar of Meta-TF DTDs (HATF paper, Appendix B).  After a fault parsing continues at the
 * next ';' or '}'. */
%define api.pure full
%define api.prefix {dtd_yy}
%define parse.error detailed
%locations
%lex-param { void *scanner }
%parse-param { struct dtd_parse *parse } { void *scanner }
%expect 0

%code requires {
#include "format/metatf/dtd_tree.h"
}

%code {
#include <stdio.h>
#include <string.h>

#include "format/metatf/dtd_parse.tab.h"
int dtd_yylex(DTD_YYSTYPE *value, DTD_YYLTYPE *place, void *scanner);

static void dtd_yyerror(const DTD_YYLTYPE *at, struct dtd_parse *parse, void *scanner,
                             const char *message)
{
    (void) scanner;
    const char *text = strncmp(message, "syntax error, ", 14) == 0 ? message + 14 : message;
    dtd_fault(parse, (struct dtd_place){(uint32_t) at->first_line, (uint32_t) at->first_column},
              "%s", text);
}

#define PLACE(at) ((struct dtd_place){(uint32_t) (at).first_line, (uint32_t) (at).first_column})
#define NEED(pointer)                                                                              \
    do {                                                                                           \
        if (((pointer) = dtd_zeroed(parse, sizeof *(pointer))) == NULL)                            \
            YYABORT;                                                                               \
    } while (0)

#define COUNT(at)                                                                                  \
    do {                                                                                           \
        if (++parse->definition_count > DTD_DEFINITIONS_LIMIT) {                                   \
            dtd_fault(parse, PLACE(at), "more than %u records and properties",                     \
                      DTD_DEFINITIONS_LIMIT);                                                      \
            YYABORT;                                                                               \
        }                                                                                          \
    } while (0)

static void append_defs(struct dtd_defs *defs, const struct dtd_defs *more)
{
    if (more->records != NULL) {
        *(defs->records != NULL ? &defs->last_record->next : &defs->records) = more->records;
        defs->last_record = more->last_record;
    }
    if (more->properties != NULL) {
        *(defs->properties != NULL ? &defs->last_property->next : &defs->properties) =
            more->properties;
        defs->last_property = more->last_property;
    }
}
}

%union {
    const char *text;
    uint64_t number;
    struct dtd_argument argument;
    struct dtd_property *property;
    struct { struct dtd_field *first, *last; } fields;
    struct dtd_field *field;
    struct dtd_record *record;
    struct dtd_defs defs;
}

%token END_OF_TEXT 0 "end of text"
%token SECTION "section"
%token <text> NAME "name"
%token <number> NUMBER "number"
%token BIG "number of more than 64 bits"
%token BAD "character that has no place in a DTD"
%token UNENDED "comment that does not end"

%type <field> field simple
%type <fields> list
%type <record> record
%type <property> property value
%type <argument> argument
%type <defs> block properties defs

/* In `a : b : c { }` the braces belong to b. */
%precedence NO_BLOCK
%precedence '{'

%%

text:
    %empty
  | text record
    {
        append_defs(&parse->defs, &(struct dtd_defs){.records = $2, .last_record = $2});
    }
  | text property
    {
        append_defs(&parse->defs, &(struct dtd_defs){.properties = $2, .last_property = $2});
    }
  | text section
  | text error ';'
  | text error '}'
  ;

section:
    SECTION NAME NUMBER '{' defs '}'
    {
        struct dtd_section *section;
        NEED(section);
        section->name = $2;
        section->number = $3;
        section->place = PLACE(@2);
        section->defs = $5;
        *(parse->sections != NULL ? &parse->last_section->next : &parse->sections) = section;
        parse->last_section = section;
        parse->section_count++;
    }
  ;

defs:
    %empty { $$ = (struct dtd_defs){0}; }
  | defs record
    {
        append_defs(&$1, &(struct dtd_defs){.records = $2, .last_record = $2});
        $$ = $1;
    }
  | defs property
    {
        append_defs(&$1, &(struct dtd_defs){.properties = $2, .last_property = $2});
        $$ = $1;
    }
  | defs error ';' { $$ = $1; }
  ;

record:
    NAME ':' field block
    {
        COUNT(@1);
        NEED($$);
        $$->name = $1;
        $$->place = PLACE(@1);
        $$->field = $3;
        $$->properties = $4.properties;
    }
  ;

block:
    %empty %prec NO_BLOCK { $$ = (struct dtd_defs){0}; }
  | '{' properties '}' { $$ = $2; }
  ;

properties:
    %empty { $$ = (struct dtd_defs){0}; }
  | properties property
    {
        append_defs(&$1, &(struct dtd_defs){.properties = $2, .last_property = $2});
        $$ = $1;
    }
  | properties error ';' { $$ = $1; }
  ;

field:
    simple
  | record
    {
        NEED($$);
        $$->form = DTD_RECORD;
        $$->place = $1->place;
        $$->record = $1;
    }
  | NAME '*' simple
    {
        NEED($$);
        $$->form = DTD_REPEAT;
        $$->name = $1;
        $$->place = PLACE(@1);
        $$->children = $3;
    }
  ;

simple:
    NAME
    {
        NEED($$);
        $$->form = DTD_NAME;
        $$->name = $1;
        $$->place = PLACE(@1);
    }
  | '(' list ')'
    {
        NEED($$);
        $$->form = DTD_GROUP;
        $$->place = PLACE(@1);
        $$->children = $2.first;
    }
  ;

list:
    field { $$.first = $$.last = $1; }
  | list ',' field
    {
        $1.last->next = $3;
        $$.first = $1.first;
        $$.last = $3;
    }
  ;

property:
    NAME '.' NAME '=' value ';'
    {
        COUNT(@1);
        $$ = $5;
        $$->field = $1;
        $$->property = $3;
        $$->place = PLACE(@1);
    }
  ;

value:
    argument
    {
        NEED($$);
        $$->arguments[0] = $1;
        $$->argument_count = 1;
    }
  | NAME
    {
        NEED($$);
        $$->word = $1;
    }
  | NAME argument
    {
        NEED($$);
        $$->word = $1;
        $$->arguments[0] = $2;
        $$->argument_count = 1;
    }
  | NAME argument argument
    {
        NEED($$);
        $$->word = $1;
        $$->arguments[0] = $2;
        $$->arguments[1] = $3;
        $$->argument_count = 2;
    }
  ;

argument:
    NUMBER { $$ = (struct dtd_argument){.number = $1, .place = PLACE(@1)}; }
  | '-' NUMBER { $$ = (struct dtd_argument){.number = 0 - $2, .place = PLACE(@1)}; }
  | NAME '.' NAME
    {
        $$ = (struct dtd_argument){
            .is_reference = true, .field = $1, .property = $3, .place = PLACE(@1)};
    }
  ;

%%
