// SPDX-License-Identifier: Apache-2.0
// TEST: collectors=G1,Z,Serial driver=kill
package facts;

/** Says how many objects it has made, until it is killed. */
public class Killed {
    static class Counted { int a; }
    static class Busy {}

    static volatile Object sink;

    public static void main(String[] args) {
        for (int i = 0; i < 2; i++) {
            Thread busy = new Thread(() -> {
                while (true)
                    sink = new Busy();
            });
            busy.setDaemon(true);
            busy.start();
        }
        for (int made = 0; made < 50_000_000; made += 1000) {
            for (int i = 0; i < 1000; i++)
                sink = new Counted();
            System.out.println("made " + (made + 1000));
        }
    }
}
