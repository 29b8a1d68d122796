// SPDX-License-Identifier: Apache-2.0
// Tests for JUnit's extension in steptrace.jar. What their names begin with is what has to come of them: "passes" or
// "fails"; the comment above a test that fails has lines of its message, which junit_limits.py looks for.
package limits;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import steptrace.Allocations;
import steptrace.junit.MaxAllocated;
import steptrace.junit.MaxLive;
import steptrace.junit.NoAllocation;
import steptrace.junit.NoGrowth;
import steptrace.junit.Warmup;

class Limits {
    static class Thing {
        int a, b, c;
    }

    private final List<Object> list = new ArrayList<>(Collections.nCopies(990, "there"));
    private final Map<Object, Object> map = new HashMap<>(1024);

    static class Parser {
        static Object parse() {
            return new Thing();
        }
    }

    static volatile Object sink;
    static List<Object> kept = new ArrayList<>();
    static ArrayDeque<Object> recent = new ArrayDeque<>();
    static Object[] leaked = new Object[10_000];
    static int leaks;
    static ExecutorService elsewhere = Executors.newSingleThreadExecutor(work -> {
        Thread thread = new Thread(work);
        thread.setDaemon(true);
        return thread;
    });
    private Object mine;
    private int warm;

    private static void make(int n) {
        for (int i = 0; i < n; i++)
            sink = new Thing();
    }

    @Test
    @NoAllocation
    void passesWithoutAllocation() {
        int sum = 0;
        for (int i = 0; i < 1000; i++)
            sum += i;
        if (sum != 499500)
            throw new AssertionError(sum);
    }

    // limits.Limits.failsWithOne allocates 1 object, 24 bytes; at most 0 objects and 0 bytes pass
    //   1 object, 24 bytes: limits.Limits$Thing
    //       at limits.Limits.failsWithOne(Limits.java:84)
    @Test
    @NoAllocation
    void failsWithOne() {
        sink = new Thing();
    }

    @Test
    @MaxAllocated(objects = 11, bytes = 352)
    void passesWithExactlyTheLimit() {
        make(10);
        sink = new byte[90]; // 16 bytes of header, 90 of elements, 6 of padding
    }

    // allocates 11 objects, 352 bytes; at most 10 objects pass
    //   10 objects, 240 bytes: limits.Limits$Thing
    //       at limits.Limits.make(Limits.java:65)
    //       at limits.Limits.failsWithOneObjectMore(Limits.java:102)
    //   1 object, 112 bytes: byte[]
    @Test
    @MaxAllocated(objects = 10)
    void failsWithOneObjectMore() {
        make(10);
        sink = new byte[90];
    }

    // allocates 11 objects, 352 bytes; at most 351 bytes pass
    @Test
    @MaxAllocated(bytes = 351)
    void failsWithOneByteMore() {
        make(10);
        sink = new byte[90];
    }

    @Test
    @NoAllocation(site = "limits.Limits$Parser.parze")
    void passesAtNoSite() {
        sink = Parser.parse();
    }

    @Test
    @MaxAllocated(objects = 3, site = "limits.Limits$Parser.parse")
    void passesAtASite() {
        make(100);
        for (int i = 0; i < 3; i++)
            sink = Parser.parse();
    }

    // allocates 4 objects, 96 bytes; at most 3 objects in limits.Limits$Parser.parse pass
    @Test
    @MaxAllocated(objects = 3, site = "limits.Limits$Parser.parse")
    void failsAtASite() {
        make(100);
        for (int i = 0; i < 4; i++)
            sink = Parser.parse();
    }

    @Test
    @MaxLive(objects = 5)
    void passesWithWhatItLeaves() {
        make(1000);
        sink = null;
        for (int i = 0; i < 5; i++)
            kept.set(i, new Thing());
    }

    // leaves 6 objects, 144 bytes; at most 5 objects pass
    //   6 objects, 144 bytes: limits.Limits$Thing
    @Test
    @MaxLive(objects = 5)
    void failsWithWhatItLeaves() {
        make(1000);
        sink = null;
        for (int i = 0; i < 6; i++)
            kept.set(i, new Thing());
    }

    // leaves 1 object, 1016 bytes; at most 0 objects pass
    @Test
    @MaxLive(objects = 0)
    void failsWithAFieldOfItsOwn() {
        mine = new byte[1000];
    }

    @Test
    @NoAllocation
    void passesWithAClassThatIsLoadedInIt() {
        Unloaded.touch();
    }

    static class Unloaded {
        static int count;

        static void touch() {
            count++;
        }
    }

    @Test
    @NoAllocation
    void passesWithALambda() throws Exception {
        Callable<Integer> nothing = () -> null;
        if (nothing.call() != null)
            throw new AssertionError();
    }

    // allocates 1 object, 16 bytes
    //   1 object, 16 bytes: java.lang.Integer
    @Test
    @NoAllocation
    void failsWithABox() throws Exception {
        Callable<Integer> box = () -> Integer.valueOf(1000 + kept.size());
        sink = box.call();
    }

    private List<Object> cache;

    @Test
    @NoAllocation(warmups = 1)
    void passesOnceItIsWarm() {
        if (cache == null)
            cache = new ArrayList<>(10);
    }

    // allocates 2 objects, 
    @Test
    @NoAllocation
    void failsWhileItIsCold() {
        if (cache == null)
            cache = new ArrayList<>(10);
    }

    @RepeatedTest(3)
    @MaxAllocated(objects = 2)
    void passesThreeTimes() {
        make(2);
    }

    // allocates 3 objects, 72 bytes; at most 2 objects pass
    @ParameterizedTest
    @ValueSource(ints = {3})
    @MaxAllocated(objects = 2)
    void failsWithAParameter(int n) {
        make(n);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    @MaxAllocated(objects = 2)
    void passesWithParameters(int n) {
        make(n);
    }

    @Test
    @Warmup(3)
    @NoAllocation(warmups = 1)
    void passesWithAWarmUp() {
        if (warm++ < 3)
            make(1);
    }

    // neither bytes nor objects
    @Test
    @MaxAllocated
    void failsWithoutALimit() {
        make(1);
    }

    // a number below 0
    @Test
    @MaxLive(objects = -1)
    void failsWithANegativeLimit() {
        make(1);
    }

    private static void makeElsewhere() throws InterruptedException {
        Thread thread = new Thread(() -> make(7));
        thread.start();
        thread.join();
    }

    @Test
    @MaxAllocated(objects = 0, site = "limits.Limits.make")
    void passesWithAnotherThread() throws Exception {
        elsewhere.submit(() -> make(7)).get();
    }

    // allocates 9 objects, 216 bytes; at most 8 objects in limits.Limits.make pass
    @Test
    @MaxAllocated(objects = 8, site = "limits.Limits.make")
    void failsWithThreadsOfItsOwn() throws InterruptedException {
        makeElsewhere();
        Thread thread = new Thread(() -> {
            Thread inner = new Thread(() -> make(1));
            inner.start();
            try {
                inner.join();
            } catch (InterruptedException fault) {
                throw new IllegalStateException(fault);
            }
            make(1);
        });
        thread.start();
        thread.join();
    }

    // limits.Limits.failsInZürich allocates 2 objects, 48 bytes
    @Test
    @NoAllocation
    void failsInZürich() {
        make(2);
    }

    // allocates 7 objects, 168 bytes; at most 0 objects in limits.Limits.make pass
    @Test
    @MaxAllocated(objects = 0, site = "limits.Limits.make", allThreads = true)
    void failsWithAllThreads() throws Exception {
        elsewhere.submit(() -> make(7)).get();
    }

    @Test
    @NoGrowth
    void passesWithAFullCache() {
        if (recent.size() == 50)
            recent.removeFirst();
        recent.addLast(new Thing());
    }

    // limits.Limits.failsWithALeak grows: of 512 calls 1024 objects, 20480 bytes live, of 256 calls 512 objects, 10240 bytes; more by
    //   256 objects, 6144 bytes: limits.Limits$Thing
    //       at limits.Limits.failsWithALeak(Limits.java:
    //   256 objects, 4096 bytes: java.lang.Object
    @Test
    @NoGrowth
    void failsWithALeak() {
        leaked[leaks++] = new Thing();
        leaked[leaks++] = new Object();
    }

    // of 24 calls 24 objects, 576 bytes live, of 12 calls 12 objects, 288 bytes
    //   12 objects, 288 bytes: limits.Limits$Thing
    @Test
    @NoGrowth(calls = 24)
    void failsWhereReflectionChangesItsWay() {
        leaked[leaks++] = new Thing();
    }

    // limits.Limits.failsWithALeakBesideTables grows: of
    @Test
    @NoGrowth
    void failsWithALeakBesideTables() {
        if (++warm == 10)
            sink = new byte[1 << 20];
        list.add(new Object());
        map.put(new Object(), this);
    }

    /** A class that has a limit for the tests of those within. */
    @Nested
    @NoAllocation
    class Around {
        @Nested
        class Within {
            // allocates 1 object, 16 bytes
            @Test
            void failsInAClassWithin() {
                sink = new Object();
            }
        }
    }

    // grows: of 40 calls 8 objects, 192 bytes live, of 20 calls 4 objects, 96 bytes, in limits.Limits$Parser.parse; more by
    @Test
    @NoGrowth(calls = 41, site = "limits.Limits$Parser.parse")
    void failsWithARareLeak() {
        leaked[leaks++] = new Object();
        if (++warm % 5 == 1)
            leaked[leaks++] = Parser.parse();
    }

    // limits.Limits.failsWithAGrowingArray grows: of 512 calls 1 object
    @Test
    @NoGrowth
    void failsWithAGrowingArray() {
        for (int i = 0; i < 3; i++)
            same.add("same");
    }

    @Test
    @NoGrowth
    void passesWithAFullRingOfManyPaths() {
        ring[paths.nextInt(ring.length)] = below(paths.nextInt(8));
    }

    private static Object below(int depth) {
        return depth == 0 ? new Thing() : below(depth - 1);
    }

    private static final List<Object> same = new ArrayList<>();
    private static final Object[] ring = new Object[70];
    private static final Random paths = new Random(19);

    // its own fault
    @Test
    @NoAllocation
    void failsByItself() {
        make(1);
        throw new IllegalStateException("its own fault");
    }

    @Test
    @MaxAllocated(bytes = 1 << 20)
    void passesWithNoFileOfTheLibrary() throws IOException {
        try (var places = Files.newDirectoryStream(Path.of(System.getProperty("java.io.tmpdir")))) {
            for (Path place : places)
                if (Files.exists(place.resolve("libtracer.so")))
                    throw new AssertionError(place + " was left when the library was loaded");
        }
    }

    @Test
    void passesMeasuredByItself() throws Exception {
        Allocations made = Allocations.measure(() -> make(3));
        Allocations left = Allocations.measureLive(() -> kept.set(9, new Object[]{new Thing(), new Thing()}));
        String text = left.toString();
        if (made.objects() != 3 || made.bytes() != 72 || left.objects() != 3
                || !text.contains("1 object, 24 bytes: java.lang.Object[]\n      at limits.Limits."))
            throw new AssertionError(made + "\n" + left);
    }

    // a measurement within a measurement
    @Test
    @NoAllocation
    void failsWithAMeasurementInIt() throws Exception {
        Allocations.measure(() -> make(3));
    }

    /** JaCoCo adds such a method to each class file of a Java before 11. */
    static void $jacocoInit() {
        make(1);
    }

    @Test
    @NoAllocation
    void passesWithCoverage() {
        $jacocoInit();
    }

    @Test
    @NoAllocation
    void passesWithAnInterrupt() {
        Thread.currentThread().interrupt();
    }

    @AfterEach
    void isInterrupted(TestInfo test) {
        if (Thread.interrupted() != test.getDisplayName().startsWith("passesWithAnInterrupt"))
            throw new AssertionError("the thread's interrupt");
    }

    // limits do not hold for dynamic tests
    @TestFactory
    @NoAllocation
    List<DynamicTest> failsWithDynamicTests() {
        return List.of(DynamicTest.dynamicTest("failsAtAll", () -> make(1)));
    }

    @Test
    void passesWithoutALimit() {
        make(1000);
    }

    @Nested
    @MaxAllocated(objects = 1)
    class OfAClass {
        @Test
        void passesWithTheLimitOfItsClass() {
            make(1);
        }

        // limits.Limits$OfAClass.failsWithTheLimitOfItsClass allocates 2 objects
        @Test
        void failsWithTheLimitOfItsClass() {
            make(2);
        }

        @Test
        @MaxAllocated(objects = 2)
        void passesWithALimitOfItsOwn() {
            make(2);
        }
    }

    static {
        elsewhere.submit(() -> make(1)); // its thread is there before the tests
        for (int i = 0; i < 10; i++)
            kept.add(null);
    }
}
