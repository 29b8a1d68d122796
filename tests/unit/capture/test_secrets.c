/* SPDX-License-Identifier: Apache-2.0 */
/* Command lines with secrets, and without. */
#include <CUnit/Basic.h>
#include <stdio.h>
#include <string.h>

#include "capture/secrets.h"
#include "tests/unit/run_suite.h"

/* Of arguments that 0 bytes separate (in `line`: |), and blanks. */
static void expect_each(const char *line, const char *of_zeros, const char *of_blanks)
{
    for (int zeros = 0; zeros < 2; zeros++) {
        const char *wanted = zeros ? of_zeros : of_blanks;
        char text[256];
        size_t length = strlen(line);
        memcpy(text, line, length + 1);
        for (size_t i = 0; i < length; i++)
            if (text[i] == '|')
                text[i] = zeros ? '\0' : ' ';
        length = secrets_mask(text, length, zeros ? '\0' : ' ');
        CU_ASSERT_EQUAL(text[length], '\0');
        for (size_t i = 0; i < length; i++)
            if (text[i] == '\0')
                text[i] = '|';
        CU_ASSERT_EQUAL(length, strlen(wanted));
        CU_ASSERT_STRING_EQUAL(text, wanted);
    }
}

/* The same for both; the texts have blanks between the arguments. */
static void expect(const char *line, const char *wanted)
{
    char texts[2][256];
    snprintf(texts[0], sizeof texts[0], "%s", line);
    snprintf(texts[1], sizeof texts[1], "%s", wanted);
    for (size_t i = 0; i < 2; i++)
        for (char *at = texts[i]; *at != '\0'; at++)
            if (*at == ' ')
                *at = '|';
    expect_each(texts[0], texts[1], wanted);
}

static void test_values(void)
{
    expect("java -Ddb.password=hunter2 -jar a.jar", "java -Ddb.password=*** -jar a.jar");
    expect("java -Djavax.net.ssl.keyStorePassword=changeit -cp a Main",
           "java -Djavax.net.ssl.keyStorePassword=*** -cp a Main");
    expect("a --api-key=0123456789abcdef -b", "a --api-key=*** -b");
    expect_each("a|--api-key=01234|b", "a|--api-key=***|b", "a --api-key=*** *");
    expect("a --pwd=0123 -Cookie=abcd -Dx.jwt=12345", "a --pwd=*** -Cookie=*** -Dx.jwt=***");
    expect("a DB_PASS=0123 -Dhttp.auth=12345", "a DB_PASS=*** -Dhttp.auth=***");
    expect("a --API_KEY=x -b", "a --API_KEY=* -b");
    expect("a client_secret=xyz", "a client_secret=***");
    expect("java -javaagent:a.jar=host=b,token=abcdef,port=1 -cp a Main",
           "java -javaagent:a.jar=host=b,token=*** -cp a Main");
    expect("a http://b/c?x=1&access_token=abcdefgh", "a http://b/c?x=1&access_token=***");
    expect("a -Dpassword= b", "a -Dpassword= b");
    expect("-Dpassword=1234567", "-Dpassword=***");
}

/* What names a secret in one argument says nothing of the next one, nor does the path of a file. */
static void test_other_arguments(void)
{
    expect("java -cp /opt/token/lib.jar -Dfoo=bar", "java -cp /opt/token/lib.jar -Dfoo=bar");
    expect("java -jar token-service.jar --port=8080", "java -jar token-service.jar --port=8080");
    expect("java -javaagent:/opt/tokens.jar Main", "java -javaagent:/opt/tokens.jar Main");
    expect_each("java|-Dlevel=basic|Main", "java|-Dlevel=basic|Main", "java -Dlevel=basic ***");
    expect_each("java|-Dx=Bearer 01234|-b", "java|-Dx=Bearer ***|-b", "java -Dx=Bearer *** -b");
}

static void test_all_urls(void)
{
    expect("a -Durl=redis://:mysecret1@b:6379/0 c", "a -Durl=redis://:***@b:6379/0 c");
    expect_each("a|http://b:0123@c/?token=4567|d", "a|http://b:***@c/?token=***|d",
                "a http://b:***@c/?token=*** *");
    expect("a u://b:0123@c,u://d:4567@e", "a u://b:***@c,u://d:***@e");
}

static void test_next_word(void)
{
    expect("a --password hunter2 -b", "a --password *** -b");
    expect_each("a|--password|hunter2|b", "a|--password|***|b", "a --password *** *");
    expect("a --token --verbose", "a --token --verbose");
    expect("a --token", "a --token");
    expect("a --token -x1234 --b c", "a --token *** --b c");
    expect("a -token -b c", "a -token -b c");
    expect("a --token x --token yyyyyy", "a --token * --token ***");
    expect("a --password", "a --password");
}

static void test_urls(void)
{
    expect("a http://b/c?x=1&sig=abcdefgh#d", "a http://b/c?x=1&sig=***");
    expect("a wss://b/#access_token=abcdefgh", "a wss://b/#access_token=***");
    expect("a jdbc:postgresql://me:hunter2@host/db b", "a jdbc:postgresql://me:***@host/db b");
    expect("a amqp://me:p@ss@host", "a amqp://me:***@host");
    expect("a http://host:80/x@y", "a http://host:80/x@y");
    expect("a http://me@host", "a http://me@host");
}

static void test_blanks(void)
{
    expect_each("a|-Dpassword=hunter two|-b", "a|-Dpassword=***|-b", "a -Dpassword=*** *** -b");
    expect_each("a|--password|hunter -two|-b", "a|--password|***|-b", "a --password *** -two -b");
    expect_each("a|-Dpassword=\"hunter -two\"|-b", "a|-Dpassword=***|-b", "a -Dpassword=*** -b");
    expect_each("a|--pwd|'x -y z'|b", "a|--pwd|***|b", "a --pwd *** *");
    expect_each("sh|-c|b --token abcd -c|d", "sh|-c|b --token *** -c|d",
                "sh -c b --token *** -c d");
    expect_each("a|\"hunter", "a|\"hunter", "a \"hunter");
    expect_each("a|--pwd|\"hunter|b", "a|--pwd|***|b", "a --pwd *** *");
}

static void test_json(void)
{
    expect("a {\"x\":1,\"token\":\"abcd\",\"y\":2} -b", "a {\"x\":1,\"token\":*** -b");
    expect_each("a|{\"api_key\": \"ab cd\", \"x\": 1}|-b", "a|{\"api_key\":***|-b",
                "a {\"api_key\": *** *** ** -b");
    expect_each("a|--json={\"x\": {\"clientSecret\" : \"abcd\"}}|-b",
                "a|--json={\"x\": {\"clientSecret\" :***|-b",
                "a --json={\"x\": {\"clientSecret\" : *** -b");
    expect_each("a|token = abcd|-b", "a|token =***|-b", "a token = *** -b");
}

static void test_headers(void)
{
    expect_each("a|-H|Authorization: Bearer abcdef|-b", "a|-H|Authorization:***|-b",
                "a -H Authorization: *** *** -b");
    expect("a -HX-Api-Key:abcdef -b", "a -HX-Api-Key:*** -b");
    expect_each("a|Bearer abcdef|b", "a|Bearer ***|b", "a Bearer *** *");
    expect_each("a|--header|Cookie: id=abcd; x=1|-b", "a|--header|Cookie:***|-b",
                "a --header Cookie: *** *** -b");
}

static void test_others(void)
{
    expect("", "");
    expect("java -Xmx1g -Dsize=3 -cp a:b com.acme.Main 1 2",
           "java -Xmx1g -Dsize=3 -cp a:b com.acme.Main 1 2");
    expect("java -Dkeyboard=de tokens.Main x", "java -Dkeyboard=de tokens.Main x");
    expect("a  b ", "a  b ");
    expect("java -cp tokens.jar:lib/password:b.jar com.acme.Main",
           "java -cp tokens.jar:lib/password:b.jar com.acme.Main");
    expect("a file:/x:1 12:30 ::: : \"\": '", "a file:/x:1 12:30 ::: : \"\": '");
    expect("= == a=", "= == a=");
}

void add_suite(void)
{
    CU_pSuite suite = CU_add_suite("secrets", NULL, NULL);
    CU_add_test(suite, "values of secret names", test_values);
    CU_add_test(suite, "other arguments", test_other_arguments);
    CU_add_test(suite, "passwords of all URLs", test_all_urls);
    CU_add_test(suite, "the word after an option", test_next_word);
    CU_add_test(suite, "passwords of URLs", test_urls);
    CU_add_test(suite, "arguments with blanks", test_blanks);
    CU_add_test(suite, "JSON", test_json);
    CU_add_test(suite, "headers", test_headers);
    CU_add_test(suite, "what stays", test_others);
}
