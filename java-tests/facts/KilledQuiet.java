// SPDX-License-Identifier: Apache-2.0
// TEST: collectors=G1 events=all options=include=facts/** driver=kill
// FACT: calls facts/KilledQuiet step >=3000
package facts;

/** Waits to be killed after very little: the last events are in no block yet. */
public class KilledQuiet {
    static class Counted { int a; }

    static volatile Object sink;

    static void step() { sink = new Counted(); }

    public static void main(String[] args) {
        for (int i = 0; i < 3000; i++)
            step();
        System.out.println("made 3000"); // once: whoever kills may do so soon after the first
        System.out.println("waiting");
        while (true)
            Support.pause(1000);
    }
}
