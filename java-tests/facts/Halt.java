// SPDX-License-Identifier: Apache-2.0
// TEST: collectors=G1 exit=9
// FACT: alloc facts/Halt$Counted 5000
package facts;

/** Runtime.halt: no hooks, no waiting for others. */
public class Halt {
    static class Counted {}

    static volatile Object sink;

    public static void main(String[] args) {
        Thread busy = new Thread(() -> {
            while (true)
                sink = new int[5];
        });
        busy.start();
        for (int i = 0; i < 5000; i++)
            sink = new Counted();
        System.out.println("halting");
        System.out.flush();
        Runtime.getRuntime().halt(9);
    }
}
