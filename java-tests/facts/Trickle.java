// SPDX-License-Identifier: Apache-2.0
package facts;

// Allocates a little, and rests most of the time, until there is something on stdin: for tests of
// what the agent takes of such a program. With a number, as many objects live besides, and all that it
// allocated in its rounds is found dead before it ends.
// TEST: collectors=none
public class Trickle {
    static final int OBJECTS = 2000, REST_MS = 20;
    static volatile Object sink;
    static Object[] live = {};

    static class Drop {
        byte[] bytes = new byte[64];
    }

    static void round() {
        for (int i = 0; i < OBJECTS; i++)
            sink = new Drop();
    }

    public static void main(String[] args) throws Exception {
        if (args.length > 0) {
            live = new Object[Integer.parseInt(args[0])];
            for (int i = 0; i < live.length; i++)
                live[i] = new Object();
        }
        System.out.println("trickles");
        int rounds = 0;
        for (; System.in.available() == 0; rounds++) {
            round();
            Thread.sleep(REST_MS);
        }
        sink = null;
        if (live.length > 0)
            System.gc();
        System.out.println("done " + (rounds > 0));
    }
}
