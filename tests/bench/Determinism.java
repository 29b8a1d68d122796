// SPDX-License-Identifier: Apache-2.0

import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import steptrace.Allocations;

/** Measures pieces of work so often; prints of each what the first call and the second allocate, and which others there were. */
public class Determinism {
    static volatile Object sink;
    static int calls;

    record Point(int x, int y) {
    }

    static int called(int n) {
        return n + 1;
    }

    /** Kinds of code whose allocations might depend on the JIT, on chance or on what ran before. */
    private static Map<String, Allocations.Work> works() {
        Map<String, Allocations.Work> works = new LinkedHashMap<>();
        works.put("objects", () -> {
            for (int i = 0; i < 100; i++)
                sink = new Point(i, i);
        });
        works.put("objects that do not escape", () -> {
            int sum = 0;
            for (int i = 0; i < 100; i++)
                sum += new Point(i, sum).hashCode();
            sink = sum == 0 ? null : "";
        });
        works.put("boxes", () -> {
            List<Integer> list = new ArrayList<>();
            for (int i = 0; i < 300; i++)
                list.add(i);
            sink = list;
        });
        works.put("concatenation", () -> sink = "call " + 7 + ' ' + 1.5 + sink.getClass());
        works.put("format", () -> sink = String.format("%d %s %.2f", 7, "seven", 7.5));
        works.put("lambda with a variable", () -> {
            int n = works.size();
            Runnable runnable = () -> sink = n;
            runnable.run();
        });
        works.put("stream", () -> sink = IntStream.range(0, 50).boxed().filter(i -> i % 3 == 0)
                .collect(Collectors.groupingBy(i -> i % 5)));
        works.put("map of strings", () -> {
            Map<String, Integer> map = new HashMap<>();
            for (int i = 0; i < 100; i++)
                map.put("key" + i, i);
            sink = map;
        });
        works.put("map of objects without hashCode()", () -> {
            Map<Object, Integer> map = new HashMap<>();
            for (int i = 0; i < 100; i++)
                map.put(new Object(), i);
            sink = map;
        });
        works.put("pattern", () -> sink = Pattern.compile("(a+)(b|c)*d").matcher("aaabcbcd").replaceAll("$1"));
        works.put("exception", () -> {
            try {
                Integer.parseInt("seven");
            } catch (NumberFormatException fault) {
                sink = fault.getMessage();
            }
        });
        works.put("null pointer", () -> {
            try {
                sink = ((String) null).length();
            } catch (NullPointerException fault) {
                sink = fault;
            }
        });
        works.put("reflection", () -> sink = Determinism.class.getDeclaredMethod("called", int.class).invoke(null, 7));
        works.put("intern", () -> sink = new String("seven").intern());
        works.put("split", () -> sink = "a,b,c,d".split(","));
        works.put("thread", () -> {
            Thread thread = new Thread(() -> sink = new Object());
            thread.start();
            thread.join();
        });
        return works;
    }

    private static void print(String name, Map<String, List<Integer>> seen) {
        System.out.print(name);
        seen.forEach((counts, numbers) -> System.out.print("\t" + counts + " (" + numbers.size() + ": "
                + numbers.get(0) + ".." + numbers.get(numbers.size() - 1) + ")"));
        System.out.println();
    }

    public static void main(String[] words) throws Exception {
        int times = Integer.parseInt(words[0]);
        for (Map.Entry<String, Allocations.Work> work : works().entrySet()) {
            Map<String, List<Integer>> seen = new LinkedHashMap<>();
            for (int i = 1; i <= times; i++) {
                sink = "";
                Allocations made = Allocations.measure(work.getValue());
                seen.computeIfAbsent(made.objects() + (made.objects() == 1 ? " object, " : " objects, ") + made.bytes() + " bytes", counts -> new ArrayList<>())
                        .add(i);
            }
            print(work.getKey(), seen);
        }
    }
}
