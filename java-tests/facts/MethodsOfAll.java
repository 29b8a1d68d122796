// SPDX-License-Identifier: Apache-2.0
// TEST: events=all options=include=**
// FACT: calls facts/MethodsOfAll one 100
// FACT: exits facts/MethodsOfAll one 100
// FACT: calls facts/MethodsOfAll main 1
// FACT: calls facts/MethodsOfAll$Made <init> 100
// FACT: calls java/lang/Object <init> >=100
// FACT: calls java/io/PrintStream println >=1
package facts;

/** No class left out: the class library's methods as well. */
public class MethodsOfAll {
    static class Made { int a = one(3); }

    static volatile Object sink;

    static int one(int x) { return x + 1; }

    public static void main(String[] args) {
        for (int i = 0; i < 100; i++)
            sink = new Made();
        System.out.println("done");
    }
}
