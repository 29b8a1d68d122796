// SPDX-License-Identifier: Apache-2.0
// TEST: collectors=G1 events=all options=include=facts/** vm=-Xss512k
// FACT: alloc facts/StackOverflow$After 10
// FACT: exits facts/StackOverflow deeper 0
// FACT: exits facts/StackOverflow guarded 3
// FACT: calls facts/StackOverflow after 10
package facts;

/** Stack overflows, caught far above. */
public class StackOverflow {
    static class After {}

    static volatile Object sink;
    static int depth;

    static void deeper() {
        depth++;
        deeper();
        depth--;
    }

    static void guarded() {
        try {
            deeper();
        } catch (StackOverflowError e) {
            return;
        }
    }

    static void after() { sink = new After(); }

    public static void main(String[] args) {
        for (int i = 0; i < 3; i++)
            guarded();
        Support.fact("calls facts/StackOverflow deeper " + depth + ".." + (depth + 3));
        for (int i = 0; i < 10; i++)
            after();
        System.out.println("survived " + (depth > 1000));
    }
}
