// SPDX-License-Identifier: Apache-2.0
// TEST: collectors=all vm=-Xmx128m
// FACT: loads facts/Unloaded 60
// FACT: alloc facts/Unloaded 600
// FACT: freed facts/Unloaded 600
// FACT: loads facts/Later 30
// FACT: alloc facts/Later 300
// FACT: freed facts/Later 0
// FACT: freed facts/Classes$Loader 60
package facts;

import java.util.ArrayList;
import java.util.List;

/** Classes that go away with their loaders; what comes after them is not taken for them. */
public class Unloading {
    static List<Object> kept = new ArrayList<>();
    static volatile Object sink;

    static void fill(String name, int classes, List<Object> into) throws Exception {
        byte[] bytes = Classes.classFile(name);
        for (int i = 0; i < classes; i++) {
            Class<?> type = new Classes.Loader().define(bytes);
            for (int j = 0; j < 10; j++)
                into.add(type.getDeclaredConstructor().newInstance());
        }
    }

    public static void main(String[] args) throws Exception {
        for (int round = 0; round < 2; round++) {
            fill("facts/Unloaded", 30, new ArrayList<>());
            Support.collect();
            Support.collect();
            Support.pause(100);
            fill("facts/Later", 15, kept);
        }
        Support.collect();
        System.out.println(kept.size());
    }
}
