// SPDX-License-Identifier: Apache-2.0
package facts;

/**
 * Methods that do so little that one probe tells of entry and exit, and some that look so.  Prints
 * how often each of the first was left by its return and by an exception.
 */
public class LeafMethods {
    private static final class Node {
        static int made;
        final int value;
        Node next;
        long[] numbers;

        Node(int value, Node next) {
            this.value = value;
            this.next = next;
            made++;
        }

        int value() {
            return value;
        }

        void next(Node next) {
            this.next = next;
        }

        int after() {
            return next.value;
        }

        long number(int index) {
            return numbers[index];
        }

        int divided(int by) {
            return by == 1 ? value : value / by;
        }

        int compared(Object other) {
            Node node = (Node) other;
            if (value != node.value)
                return value < node.value ? -1 : 1;
            return 0;
        }

        static int made() {
            return made;
        }

        static double constant() {
            return 1234567.25;
        }

        int ofCall() {
            return value();
        }

        synchronized int locked() {
            return value;
        }

        int looped() {
            int sum = 0;
            for (int i = 0; i < 3; i++)
                sum += value;
            return sum;
        }

        int caught() {
            try {
                return next.value;
            } catch (NullPointerException e) {
                return -1;
            }
        }
    }

    private static class Base {
        final int value;

        Base(int value) {
            if (value == 1)
                throw new ArithmeticException();
            this.value = value;
        }
    }

    private static final class Derived extends Base {
        Derived(int value) {
            super(argument(value));
        }

        private static int argument(int value) {
            return value / (value % 48);
        }
    }

    private static int thrown;

    private static long risky(Node node, int kind) {
        try {
            switch (kind) {
            case 0:
                return node.after();
            case 1:
                return node.number(2);
            case 2:
                return node.divided(0);
            case 3:
                return new Derived(node.value() * 48).value;
            case 4:
                return new Derived(32).value;
            default:
                return node.compared("no node");
            }
        } catch (NullPointerException | ArrayIndexOutOfBoundsException | ArithmeticException
                 | ClassCastException e) {
            thrown++;
            return -1;
        }
    }

    private static long round(int i) {
        Node last = new Node(i, null), first = new Node(i & 7, last);
        first.next(last);
        first.numbers = new long[] {i, -i};
        long sum = first.value() + first.after() + first.number(1) + first.divided(3)
                + first.compared(last) + Node.made() + (long) Node.constant();
        sum += first.ofCall() + first.locked() + first.looped() + last.caught();
        if (i % 16 == 0) {
            for (int kind = 0; kind < 6; kind++)
                sum += risky(kind == 0 ? last : first, kind);
        }
        return sum;
    }

    private static int deep(Node node) {
        return node.value() + deep(node) + 1;
    }

    public static void main(String[] arguments) {
        int rounds = arguments.length > 0 ? Integer.parseInt(arguments[0]) : 20000;
        long sum = 0;
        for (int i = 0; i < rounds; i++)
            sum += round(i);
        System.out.println(sum + " " + thrown);
        if (arguments.length > 1) {
            try {
                deep(new Node(1, null));
            } catch (StackOverflowError e) {
                System.out.println("deep");
            }
        }
    }
}
