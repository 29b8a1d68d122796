// SPDX-License-Identifier: Apache-2.0
package facts;

/** The agent comes and goes while it waits.  For tests of their own: see tests/jvm/corner_cases.py. */
public class Rounds {
    /** Nothing is put into it but when its methods are traced. */
    static class Nans {
        static final float FLOAT = Float.NaN;
        static final double DOUBLE = Double.NaN;

        static boolean are(float one, double other) {
            return one != FLOAT && other != DOUBLE && Float.isNaN(FLOAT + one);
        }
    }

    public static void main(String[] args) {
        System.out.println(Nans.are(1, 2));
        Support.meet("attach");
        System.out.println(Nans.are(1, 2));
    }
}
