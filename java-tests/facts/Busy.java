// SPDX-License-Identifier: Apache-2.0
package facts;

import java.util.ArrayList;
import java.util.List;

// Four threads that make, hand on and drop objects until there is something on stdin: for tests
// that read the trace meanwhile.
// TEST: collectors=none
public class Busy {
    static volatile boolean stop;

    static class Item {
        Object next;
        int value;

        Item(int value) {
            this.value = value;
        }

        int step(Item other) {
            next = other;
            return value + (other != null ? other.value : 0);
        }
    }

    static int work(List<Item> shared, int round) {
        int sum = 0;
        Item last = null;
        for (int i = 0; i < 100; i++) {
            Item item = new Item(round + i);
            sum += item.step(last);
            last = i % 10 == 0 ? null : item;
        }
        synchronized (shared) {
            shared.add(last);
            if (shared.size() > 500)
                shared.clear();
        }
        return sum;
    }

    public static void main(String[] args) throws Exception {
        List<Item> shared = new ArrayList<>();
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            Thread thread = new Thread(() -> {
                for (int round = 0; !stop; round++)
                    work(shared, round);
            });
            threads.add(thread);
            thread.start();
        }
        System.out.println("busy");
        System.in.read();
        stop = true;
        for (Thread thread : threads)
            thread.join();
        System.out.println("done");
    }
}
