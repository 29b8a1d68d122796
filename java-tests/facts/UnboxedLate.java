// SPDX-License-Identifier: Apache-2.0
package facts;

/** Code that C2 has compiled before the agent comes.  For a test of its own: see tests/jvm/internals_cases.py. */
public class UnboxedLate {
    static final int ROUNDS = 200_000;

    /** It has no instruction that allocates. */
    static class Summing {
        static int sum(int rounds) {
            int sum = 0;
            for (int i = 0; i < rounds; i++)
                sum += one(i);
            return sum;
        }

        private static int one(int i) {
            Integer number = i + 1000;
            return number + 1;
        }
    }

    public static void main(String[] args) {
        int sum = 0;
        for (int i = 0; i < 20; i++)
            sum += Summing.sum(ROUNDS);
        Support.meet("attach");
        sum += Summing.sum(ROUNDS);
        System.out.println(sum != 0);
    }
}
