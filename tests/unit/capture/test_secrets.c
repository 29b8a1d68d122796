/* SPDX-License-Identifier: Apache-2.0 */
/* Command lines with secrets, and without. */
#include <CUnit/Basic.h>
#include <string.h>

#include "capture/secrets.h"
#include "tests/unit/run_suite.h"

/* Of words that are separated by spaces, and by 0 bytes. */
static void expect(const char *line, const char *wanted)
{
    for (int zeros = 0; zeros < 2; zeros++) {
        char text[256];
        size_t length = strlen(line);
        memcpy(text, line, length + 1);
        for (size_t i = 0; i < length; i++)
            if (zeros && text[i] == ' ')
                text[i] = '\0';
        length = secrets_mask(text, length, zeros ? '\0' : ' ');
        CU_ASSERT_EQUAL(text[length], '\0');
        for (size_t i = 0; i < length; i++)
            if (text[i] == '\0')
                text[i] = ' ';
        CU_ASSERT_EQUAL(length, strlen(wanted));
        CU_ASSERT_STRING_EQUAL(text, wanted);
    }
}

static void test_values(void)
{
    expect("java -Ddb.password=hunter2 -jar a.jar", "java -Ddb.password=*** -jar a.jar");
    expect("java -Djavax.net.ssl.keyStorePassword=changeit Main",
           "java -Djavax.net.ssl.keyStorePassword=*** Main");
    expect("a --api-key=0123456789abcdef b", "a --api-key=*** b");
    expect("a --pwd=0123 Cookie=abcd x.jwt=12345", "a --pwd=*** Cookie=*** x.jwt=***");
    expect("a --API_KEY=x b", "a --API_KEY=* b");
    expect("a client_secret=xyz", "a client_secret=***");
    expect("java -javaagent:a.jar=host=b,token=abcdef,port=1 Main",
           "java -javaagent:a.jar=host=b,token=*** Main");
    expect("a http://b/c?x=1&access_token=abcdefgh", "a http://b/c?x=1&access_token=***");
    expect("a -Dpassword= b", "a -Dpassword= b");
    expect("-Dpassword=1234567", "-Dpassword=***");
}

static void test_next_word(void)
{
    expect("a --password hunter2 b", "a --password *** b");
    expect("a --token --verbose", "a --token --verbose");
    expect("a --token", "a --token");
    expect("a --token x --token yyyyyy", "a --token * --token ***");
    expect("a --password", "a --password");
}

static void test_urls(void)
{
    expect("a jdbc:postgresql://me:hunter2@host/db b", "a jdbc:postgresql://me:***@host/db b");
    expect("a amqp://me:p@ss@host", "a amqp://me:***@host");
    expect("a http://host:80/x@y", "a http://host:80/x@y");
    expect("a http://me@host", "a http://me@host");
}

static void test_others(void)
{
    expect("", "");
    expect("java -Xmx1g -Dsize=3 -cp a:b com.acme.Main 1 2",
           "java -Xmx1g -Dsize=3 -cp a:b com.acme.Main 1 2");
    expect("java -Dkeyboard=de tokens.Main x", "java -Dkeyboard=de tokens.Main x");
    expect("a  b ", "a  b ");
    expect("= == a=", "= == a=");
}

void add_suite(void)
{
    CU_pSuite suite = CU_add_suite("secrets", NULL, NULL);
    CU_add_test(suite, "values of secret names", test_values);
    CU_add_test(suite, "the word after an option", test_next_word);
    CU_add_test(suite, "passwords of URLs", test_urls);
    CU_add_test(suite, "what stays", test_others);
}
