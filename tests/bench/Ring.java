// SPDX-License-Identifier: Apache-2.0
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** 2,000 pairs of nodes, of which the last 50 are in a list: docs/results/deaths.md. */
public class Ring {
    static class Node {
        Node next;
        Object payload;

        Node(Node next, Object payload) {
            this.next = next;
            this.payload = payload;
        }

        void touch() {}
    }

    static Object root;
    static List<Object> list = new ArrayList<>();

    public static void main(String[] args) {
        Map<Integer, String> map = new HashMap<>();
        for (int i = 0; i < 2000; i++) {
            map.put(i % 300, "v" + i);
            Node first = new Node(null, new byte[16]);
            Node second = new Node(first, new int[3]);
            first.next = second;
            if (i % 7 == 0)
                root = second;
            list.add(first);
            if (list.size() > 50)
                list.remove(0);
            second.touch();
        }
        System.out.println(map.size() + list.size());
    }
}
