// SPDX-License-Identifier: Apache-2.0
// TEST: collectors=Serial
// FACT: between Boxes alloc java/lang/Integer 80000
// FACT: between Boxes alloc java/lang/Double 80000
package facts;

/** Boxes that are unboxed at once, of which C2 removes each call of valueOf(). */
public class HotBoxes {
    static class Boxes {}

    static volatile Object sink;

    private static int unboxed(int i) {
        Integer number = i + 1000;
        Double real = (double) i;
        return number + real.intValue();
    }

    public static void main(String[] args) {
        int sum = 0;
        sink = new Boxes();
        for (int i = 0; i < 80_000; i++)
            sum += unboxed(i);
        sink = new Boxes();
        System.out.println(sum != 0);
    }
}
