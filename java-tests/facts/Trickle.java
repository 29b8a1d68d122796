// SPDX-License-Identifier: Apache-2.0
package facts;

// Allocates a little, and rests most of the time, until there is something on stdin: for tests of
// what the agent takes of such a program. It says how many rounds it has made.
// TEST: collectors=none
public class Trickle {
    static final int OBJECTS = 2000, REST_MS = 20;
    static volatile Object sink;

    static class Drop {
        byte[] bytes = new byte[64];
    }

    static void round() {
        for (int i = 0; i < OBJECTS; i++)
            sink = new Drop();
    }

    public static void main(String[] args) throws Exception {
        System.out.println("trickles");
        int rounds = 0;
        for (; System.in.available() == 0; rounds++) {
            round();
            Thread.sleep(REST_MS);
        }
        System.out.println("done " + (rounds > 0));
    }
}
