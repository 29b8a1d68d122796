// SPDX-License-Identifier: Apache-2.0
// TEST: collectors=none
package facts;

/** Each round JNI makes a hundred objects and a hundred arrays of bytes. */
public class NativeRounds {
    static class Made {}

    static native int makes(Class<?> made, int count);

    public static void main(String[] args) {
        System.load(System.getProperty("facts.library"));
        int rounds = Integer.parseInt(args[0]), sum = 0;
        for (int i = 0; i < rounds; i++) {
            Support.meet("round " + i);
            sum += makes(Made.class, 100);
        }
        Support.meet("done " + sum);
    }
}
