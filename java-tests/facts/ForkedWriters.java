// SPDX-License-Identifier: Apache-2.0
// TEST: collectors=G1,Serial driver=kill
// FACT: alloc facts/ForkedWriters$Counted 30000
package facts;

/**
 * The child of a fork goes on in Java, while its parent records nothing more and is killed: what
 * the child makes is not in the trace, whose memory it shares.
 */
public class ForkedWriters {
    static class Counted { int a; }

    static volatile Object sink;

    static native boolean forkIsChild(); // the parent says "waiting", and does not come back

    static native void exitNow();

    static void make(int count) {
        for (int i = 0; i < count; i++)
            sink = new Counted();
    }

    public static void main(String[] args) throws Exception {
        System.load(System.getProperty("facts.library"));
        for (int i = 0; i < 60; i++) {
            make(500);
            if (i % 10 == 0) // references of dead objects are there to be used again
                Support.collect();
        }
        System.out.println("made 30000");
        if (forkIsChild()) {
            make(500);
            exitNow();
        }
    }
}
