// SPDX-License-Identifier: Apache-2.0

import java.lang.reflect.Array;
import java.math.BigDecimal;
import java.time.LocalDateTime;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.IntConsumer;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import steptrace.Allocations;

/** Measures pieces of work so often; prints of each what the first call and the second allocate, and which others there were. */
public class Determinism {
    /** Enough for all compilers, and for code that C2 discards, in one call. */
    private static final int HOT = 20_000;

    static volatile Object sink;
    static volatile Object nothing;
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
        works.put("record to string", () -> sink = new Point(3, 4).toString());
        works.put("method reference", () -> {
            Supplier<Object> supplier = Object::new;
            sink = supplier.get();
        });
        works.put("string literal", () -> sink = "said once in this class");
        works.put("static initialiser", () -> sink = Lazy.TABLE);
        works.put("switch over an enum", () -> sink = switched(Thread.State.values()[1]));
        works.put("concurrent map", () -> {
            Map<String, Object> map = new ConcurrentHashMap<>();
            for (int i = 0; i < 100; i++)
                map.computeIfAbsent("key" + i % 40, key -> new Object());
            sink = map;
        });
        works.put("sort", () -> sink = IntStream.range(0, 200).mapToObj(i -> "s" + i * 7919 % 200).sorted().collect(Collectors.toList()));
        works.put("big numbers", () -> sink = new BigDecimal("1.25").pow(20).divide(BigDecimal.TEN).toPlainString());
        works.put("date", () -> sink = DateTimeFormatter.ISO_LOCAL_DATE_TIME.format(LocalDateTime.of(2026, 11, 28, 23, 59)));
        works.put("thread local", () -> {
            ThreadLocal<Object> local = ThreadLocal.withInitial(Object::new);
            sink = local.get();
            local.remove();
        });
        works.put("copies", () -> {
            int[] numbers = new int[10];
            sink = numbers.clone();
            sink = Arrays.copyOf(numbers, 20);
            sink = Array.newInstance(String.class, 5);
            sink = "copies".toCharArray();
            sink = new int[3][4];
        });
        works.put("deep recursion", () -> sink = deep(1000));
        works.put("hot: objects that do not escape", () -> {
            long sum = 0;
            for (int i = 0; i < HOT; i++)
                sum += new Point(i, 1).x() + Integer.valueOf(i + 1000);
            sink = sum;
        });
        works.put("hot: strings", () -> {
            int sum = 0;
            for (int i = 0; i < HOT / 4; i++)
                sum += new StringBuilder().append("a").append(i % 10).toString().length() + ("b" + i % 10).length();
            sink = sum;
        });
        works.put("hot: copies", () -> {
            int[] numbers = new int[4];
            int sum = 0;
            for (int i = 0; i < HOT; i++)
                sum += numbers.clone().length + Arrays.copyOf(numbers, 2).length;
            sink = sum;
        });
        works.put("hot: a class comes late", () -> {
            Shape shape = new Square();
            int sum = 0;
            for (int i = 0; i < HOT; i++) {
                if (i == HOT - 1000)
                    shape = new Circle();
                Point point = new Point(i, i);
                sum += shape.area(point) + point.y();
            }
            sink = sum;
        });
        works.put("hot: thrown by the program", () -> sink = thrown(i -> {
            throw new IllegalStateException();
        }));
        works.put("hot: null pointer", () -> sink = thrown(i -> ((String) nothing).length()));
        works.put("hot: array index", () -> sink = thrown(i -> sink = new int[2].clone()[i % 3 + 2]));
        works.put("hot: class cast", () -> sink = thrown(i -> ((String) (Object) Integer.valueOf(i)).length()));
        works.put("hot: division", () -> sink = thrown(i -> i = 1 / (i - i)));
        works.put("thread", () -> {
            Thread thread = new Thread(() -> sink = new Object());
            thread.start();
            thread.join();
        });
        return works;
    }

    /** Initialised by the first call. */
    static class Lazy {
        static final Object[] TABLE = { new Object(), new int[4] };
    }

    abstract static class Shape {
        abstract int area(Point point);
    }

    static class Square extends Shape {
        @Override
        int area(Point point) {
            return point.x() * point.x();
        }
    }

    static class Circle extends Shape {
        @Override
        int area(Point point) {
            return point.x() * 3;
        }
    }

    private static Object switched(Thread.State state) {
        switch (state) {
        case NEW:
            return new Object();
        case RUNNABLE:
            return new int[1];
        default:
            return null;
        }
    }

    private static Object deep(int depth) {
        return depth == 0 ? new Object() : new Object[] { deep(depth - 1) };
    }

    /** How often the body throws. */
    private static int thrown(IntConsumer body) {
        int count = 0;
        for (int i = 0; i < HOT / 4; i++) {
            try {
                body.accept(i);
            } catch (RuntimeException fault) {
                count++;
            }
        }
        return count;
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
