// SPDX-License-Identifier: Apache-2.0
/** Calls of small methods and nothing else: 2 * fib(32) of them, with a warm-up of fib(20). */
public class MethodCalls {
    static long fib(int n) {
        return n < 2 ? n : fib(n - 1) + fib(n - 2);
    }

    public static void main(String[] arguments) {
        int n = arguments.length > 0 ? Integer.parseInt(arguments[0]) : 32;
        System.out.println(fib(20) + fib(n));
    }
}
