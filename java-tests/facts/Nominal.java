// SPDX-License-Identifier: Apache-2.0
// TEST: collectors=none
package facts;

import steptrace.Phase;

/** Ten iterations that allocate the same, and keep a part of it; tests/jvm/nominal_cases.py has the numbers. */
public class Nominal {
    static final Object[] kept = new Object[100];
    static Object last;
    static int count;

    static void iterate() {
        for (int i = 0; i < 2000; i++)
            last = new byte[984];
        for (int i = 0; i < 10; i++)
            kept[count++] = new byte[199984];
    }

    public static void main(String[] arguments) {
        for (int i = 1; i <= 10; i++) {
            String name = i < 10 ? "warmup" : "measure";
            Phase.beginProgram(name);
            iterate();
            Phase.endProgram();
            System.gc();
        }
        System.out.println(kept[99] != null);
    }
}
