// SPDX-License-Identifier: Apache-2.0
package facts;

/**
 * For engine=sampled: objects that live when the trace ends, and a program that waits while files
 * change.  tests/jvm/sampled_cases.py judges it.
 */
public class SampledHeld {
    static class Kept { long a, b, c, d, e, f; }

    static final Kept[] kept = new Kept[20_000];
    static volatile Object sink;

    static void make() {
        for (int i = 0; i < kept.length; i++)
            kept[i] = new Kept();
    }

    public static void main(String[] args) throws Exception {
        Support.meet("attach");
        Support.passFirstSample();
        make();
        Support.meet("made");
        Support.meet("stopped");
        make();
        System.out.println("held " + kept.length);
    }
}
