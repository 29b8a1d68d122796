/* SPDX-License-Identifier: Apache-2.0 */
/* The grammar of STEP-DL 1.0 (STEP paper, Appendix A). */
%define api.pure full
%define api.prefix {step_dl_}
%define api.token.prefix {STEP_DL_}
%define api.location.type {struct step_dl_place}
%define parse.error verbose
%define parse.lac full
%locations
%parse-param {struct step_dl_parse *parse} {void *scanner}
%lex-param {void *scanner}
%expect 0

%code requires {
#include "syntax.h"
}

%code {
#define YYLLOC_DEFAULT(current, rhs, n) ((current) = YYRHSLOC(rhs, (n) > 0 ? 1 : 0))
#define NEED(made)                                                                                 \
    do {                                                                                           \
        if (!(made))                                                                               \
            YYABORT;                                                                               \
    } while (0)

int step_dl_lex(YYSTYPE *value, struct step_dl_place *place, void *scanner);
static void step_dl_error(struct step_dl_place *place, struct step_dl_parse *parse, void *scanner,
                          const char *message);
}

%union {
    struct step_dl_symbol *symbol;
    const char *text;
    struct step_dl_name *name;
    struct step_dl_attribute *attribute;
    struct step_dl_attributes *attributes;
    struct step_dl_type *type;
    struct step_dl_extends *extends;
    struct step_dl_package *package;
    bool flag;
}

%token END 0 "the end of the text"
%token PACKAGE "'package'" RECORD "'record'" EXTENDS "'extends'"
%token INT "'int'" STRING_TYPE "'string'" DATA "'data'"
%token <symbol> NAME "a name"
%token <text> STRING "a string"
%token '{' "'{'" '}' "'}'" '<' "'<'" '>' "'>'" ':' "':'" ';' "';'" ',' "','" '.' "'.'"
%token '[' "'['" ']' "']'" '~' "'~'" '!' "'!'"

%type <text> text_or_none
%type <name> name type_name
%type <attribute> attribute
%type <attributes> attributes some_attributes
%type <type> attributed_type
%type <extends> extends_or_none
%type <flag> cut_or_none modifier_sign

%%

file: definitions ;

definitions: %empty | definitions definition ;

definition: package | record | error ;

package: PACKAGE <package>{ $$ = parse->package; } package_name '{' definitions '}'
         { parse->package = $2; yyerrok; } ;

package_name: name { NEED(step_dl_package_enter(parse, $1)); }
            | error ;

name: NAME          { NEED($$ = step_dl_name_start(parse, $1, @1)); }
    | name '.' NAME { NEED($$ = step_dl_name_add(parse, $1, $3)); } ;

type_name: name
         | '.' name { $$ = $2; $$->absolute = true; $$->place = @1; } ;

record: record_head '{' body '}' { parse->record = NULL; yyerrok; } ;

record_head: RECORD NAME text_or_none extends_or_none
             { NEED(step_dl_record_begin(parse, $2, @2, $3, $4)); }
           | RECORD NAME error
             { NEED(step_dl_record_begin(parse, $2, @2, NULL, NULL)); parse->record->damaged = true; }
           | RECORD error
             { NEED(step_dl_record_begin(parse, NULL, @1, NULL, NULL)); } ;

text_or_none: %empty { $$ = NULL; } | STRING ;

extends_or_none: %empty { $$ = NULL; }
               | EXTENDS cut_or_none type_name
                 { NEED($$ = step_dl_extends_make(parse, $2, $3)); } ;

cut_or_none: %empty { $$ = false; } | '!' { $$ = true; } ;

body: %empty | body item ;

item: STRING        { step_dl_record_description(parse, $1, @1); }
    | attribute     { NEED(step_dl_record_attribute(parse, $1, @1)); }
    | attributed_type { step_dl_fields_begin(parse, $1, @1); } field_list ';'
    | modifier_sign name some_attributes ';'
                    { NEED(step_dl_record_modifier(parse, $1, $2, $3, @1)); }
    | error         { parse->record->damaged = true; }
    | error ';'     { parse->record->damaged = true; yyerrok; } ;

field_list: field | field_list ',' field ;

field: NAME text_or_none attributes { NEED(step_dl_record_field(parse, $1, $2, $3, @1)); } ;

attributed_type: INT         { NEED($$ = step_dl_type_make(parse, STEP_TYPE_INT, NULL)); }
               | STRING_TYPE { NEED($$ = step_dl_type_make(parse, STEP_TYPE_STRING, NULL)); }
               | DATA        { NEED($$ = step_dl_type_make(parse, STEP_TYPE_DATA, NULL)); }
               | type_name   { NEED($$ = step_dl_type_make(parse, STEP_TYPE_RECORD, $1)); }
               | attributed_type attribute
                 { NEED(step_dl_type_add_attribute(parse, $1, $2)); $$ = $1; }
               | attributed_type '[' ']'
                 { NEED(step_dl_type_add_array(parse, $1, @2)); $$ = $1; } ;

attributes: %empty { $$ = NULL; } | some_attributes ;

some_attributes: attribute { NEED($$ = step_dl_attributes_add(parse, NULL, $1)); }
               | some_attributes attribute
                 { NEED($$ = step_dl_attributes_add(parse, $1, $2)); } ;

attribute: '<' NAME ':' STRING '>' { NEED($$ = step_dl_attribute_make(parse, $2, $4, @1)); } ;

modifier_sign: '~' { $$ = false; } | '!' { $$ = true; } ;

%%

/* Bison's texts begin with "syntax error, ". */
static void step_dl_error(struct step_dl_place *place, struct step_dl_parse *parse, void *scanner,
                          const char *message)
{
    static const char prefix[] = "syntax error, ";
    (void) scanner;
    if (strncmp(message, prefix, sizeof prefix - 1) == 0)
        message += sizeof prefix - 1;
    step_dl_fault(parse, *place, "%s", message);
}
