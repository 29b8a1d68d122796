// SPDX-License-Identifier: Apache-2.0
// TEST: events=method+class+thread options=include=java/lang/Object+facts/**
// FACT: calls java/lang/Object <init> >=100000
// FACT: calls facts/Finalizable main 1
// FACT: exits facts/Finalizable main 1
package facts;

/** The constructor of Object as C2 compiles it while there are classes with finalizers. */
public class Finalizable {
    static volatile Object sink;

    static class F {
        @SuppressWarnings({"deprecation", "removal"})
        protected void finalize() { sink = this; }
    }

    public static void main(String[] args) {
        sink = new F();
        for (int i = 0; i < 100000; i++)
            sink = new Object();
        System.out.println("ok");
    }
}
