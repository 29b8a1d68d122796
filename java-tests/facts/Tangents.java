// SPDX-License-Identifier: Apache-2.0
package facts;

/** Math.tan() of all kinds of numbers, in code that is compiled, among calls of small methods. */
public class Tangents {
    static final long[] ODD = {
        0L, 1L, 0x8000000000000000L, 0x7ff0000000000000L, 0xfff0000000000000L, 0x7ff8000000000000L,
        0xfff8000000000000L, 0xfff8000000000001L, 0x7fffd5be9e000001L, 0xffffffffffffffffL,
        0xfffd5be9d0000001L, 0xfffd5bea00000001L, 0x3ff921fb54442d18L, 0x7fefffffffffffffL};

    private static long mixed(long sum, double value) {
        return sum * 31 + Double.doubleToRawLongBits(Math.tan(value));
    }

    private static long odd(long sum) {
        for (long bits : ODD)
            sum = mixed(sum, Double.longBitsToDouble(bits));
        return sum;
    }

    public static void main(String[] arguments) {
        int rounds = arguments.length > 0 ? Integer.parseInt(arguments[0]) : 40000;
        long sum = 0;
        for (int i = 0; i < rounds; i++)
            sum = odd(mixed(mixed(sum, i * 0.37), i * -1e9));
        System.out.println(sum);
    }
}
