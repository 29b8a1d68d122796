// SPDX-License-Identifier: Apache-2.0
import java.util.LinkedList;
import java.util.List;
import java.util.Random;
import java.util.TreeMap;

/** A map of some 3,000 lists of strings that come and go: docs/results/deaths.md. */
public class Lists {
    public static void main(String[] args) {
        Random random = new Random(1);
        TreeMap<Integer, List<String>> lists = new TreeMap<>();
        for (int i = 0; i < 150000; i++) {
            int key = random.nextInt(3000);
            lists.computeIfAbsent(key, x -> new LinkedList<>()).add("s" + i);
            if (random.nextInt(3) > 0)
                lists.remove(random.nextInt(3000));
        }
        System.out.println(lists.size());
    }
}
