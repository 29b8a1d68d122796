// SPDX-License-Identifier: Apache-2.0
// TEST: collectors=none
package facts;

/** Stores of references by JNI; tests/jvm/reference_cases.py has the list of them. */
public class NativeStores {
    static class Node {
        Node next;
        static Node first;
    }

    static class Sub extends Node {
        Node own;
    }

    /** Into fields, a static field by its class and by a subclass, elements; makes an array of two b. */
    static native Object[] stores(Sub holder, Node[] array, Node a, Node b);

    public static void main(String[] args) {
        System.load(System.getProperty("facts.library"));
        Sub holder = new Sub();
        Node a = new Node(), b = new Node();
        Node[] array = new Node[3];
        Object[] made = stores(holder, array, a, b);
        System.out.println(holder.next == null && holder.own == b && Node.first == a && array[1] == a && made[1] == b);
    }
}
