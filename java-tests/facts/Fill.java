// SPDX-License-Identifier: Apache-2.0
// TEST: collectors=none
package facts;

/** Makes more events than a small disk holds. */
public class Fill {
    static class A { int a; }
    static class B { long b, c; }
    static class C { Object d; }

    static volatile Object sink;

    public static void main(String[] args) {
        int seed = 1, sum = 0;
        int count = args.length > 0 ? Integer.parseInt(args[0]) : 1_500_000;
        for (int i = 0; i < count; i++) {
            seed = seed * 1103515245 + 12345;
            int kind = seed >>> 16 & 3;
            sink = kind == 0 ? new A() : kind == 1 ? new B() : kind == 2 ? new C() : new int[seed >>> 20 & 63];
            sum += kind;
        }
        System.out.println("sum " + sum);
    }
}
