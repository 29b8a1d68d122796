// SPDX-License-Identifier: Apache-2.0
// TEST: vm=-Xint
// FACT: alloc facts/Scalars$Point 50000
// FACT: alloc facts/Scalars$Box 50000
// FACT: between Section alloc java/lang/Integer 50000
package facts;

/** Objects that a compiler would remove: the interpreter makes them all. */
public class Scalars {
    record Point(int x, int y) {}
    static class Box { int value; }
    static class Section {}

    static int sum(int n) {
        int sum = 0;
        for (int i = 0; i < n; i++) {
            Point point = new Point(i, 1);
            Box box = new Box();
            box.value = point.x();
            Integer boxed = 1000 + box.value;
            sum += boxed + point.y();
        }
        return sum;
    }

    static volatile Object sink;

    public static void main(String[] args) {
        sink = new Section();
        int sum = sum(50_000);
        sink = new Section();
        System.out.println(sum);
    }
}
