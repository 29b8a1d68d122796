// SPDX-License-Identifier: Apache-2.0
package facts;

/**
 * For exact windows that begin and end with a call: rounds of objects that are made outside of the
 * call and in it.  tests/jvm/sampled_windows.py knows the numbers.
 */
public class SampledStart {
    static class Outside { long a, b, c; }
    static class Inside { long a; }

    static final int CALLS = 100, EACH = 100;
    static volatile Object sink;
    static long enteredNs;

    static void piece() {
        for (int i = 0; i < EACH; i++)
            sink = new Inside();
    }

    static void request() {
        enteredNs = System.nanoTime();
        for (int i = 0; i < CALLS; i++)
            piece();
    }

    static void outside() {
        for (int i = 0; i < 2 * CALLS * EACH; i++)
            sink = new Outside();
    }

    /** Is never called. */
    static void never() {
        sink = null;
    }

    public static void main(String[] args) {
        Support.meet("begin");
        Support.passFirstSample();
        for (int round = Integer.parseInt(args[0]); round > 0; round--) {
            outside();
            long fromNs = System.nanoTime();
            request();
            long leftNs = System.nanoTime();
            System.out.println("us " + (enteredNs - fromNs) / 1000 + " " + (leftNs - enteredNs) / 1000);
            Support.meet("round");
        }
        System.out.println("end");
    }
}
