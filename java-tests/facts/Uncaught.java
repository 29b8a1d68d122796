// SPDX-License-Identifier: Apache-2.0
// TEST: collectors=G1 events=all options=include=facts/** exit=1
// SEQUENCE: main
// SEQUENCE: +main +first +second +Failure.<init> -Failure.<init> !second !first !main
// FACT: alloc facts/Uncaught$Failure 1
// FACT: pops facts/Uncaught main 1
package facts;

/** An exception that nobody catches. */
public class Uncaught {
    static class Failure extends RuntimeException {}

    static void first() { second(); }

    static void second() { throw new Failure(); }

    public static void main(String[] args) {
        System.out.println("failing");
        first();
    }
}
