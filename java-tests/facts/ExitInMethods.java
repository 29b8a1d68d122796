// SPDX-License-Identifier: Apache-2.0
// TEST: collectors=G1 events=all options=include=facts/** exit=3
// FACT: calls facts/ExitInMethods deep 20
// FACT: exits facts/ExitInMethods deep 0
package facts;

/** System.exit below open frames, while other threads are in methods too. */
public class ExitInMethods {
    static volatile int total;

    static void deep(int n) {
        if (n == 0)
            System.exit(3);
        deep(n - 1);
    }

    static void busy() {
        while (true)
            step();
    }

    static void step() { total++; }

    public static void main(String[] args) {
        for (int i = 0; i < 2; i++)
            new Thread(ExitInMethods::busy).start();
        Support.pause(20);
        System.out.println("leaving");
        deep(19);
    }
}
