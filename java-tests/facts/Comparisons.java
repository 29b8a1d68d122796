// SPDX-License-Identifier: Apache-2.0
package facts;

import java.util.Arrays;

/** Comparisons of arrays of all lengths, in code that is compiled, with objects made in between. */
public class Comparisons {
    static class Made { Object other; }
    static volatile Object kept;

    private static int compare(int[] left, int[] right, byte[] bytes, byte[] others, int length, int place) {
        right[place % length]++;
        others[place % length]++;
        int found = Arrays.mismatch(left, 0, length, right, 0, length) * 1000
                + Arrays.mismatch(bytes, 0, length, others, 0, length) + Arrays.compare(bytes, others)
                + (Arrays.equals(left, right) ? 7 : 0);
        right[place % length]--;
        others[place % length]--;
        return found + (Arrays.equals(left, right) && Arrays.mismatch(bytes, others) == -1 ? 1 : 0);
    }

    public static void main(String[] arguments) {
        int rounds = Integer.parseInt(arguments[0]);
        int[] left = new int[200], right = new int[200];
        byte[] bytes = new byte[200], others = new byte[200];
        long sum = 0;
        for (int i = 0; i < rounds; i++) {
            Made made = new Made();
            made.other = new Made[i & 7];
            kept = made;
            sum = sum * 31 + compare(left, right, bytes, others, 1 + i % 200, i);
        }
        System.out.println(sum);
    }
}
