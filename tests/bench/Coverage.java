// SPDX-License-Identifier: Apache-2.0
import com.sun.management.GarbageCollectionNotificationInfo;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.function.Supplier;
import javax.management.NotificationEmitter;
import javax.management.openmbean.CompositeData;

/**
 * Programs that know what they allocate. Each prints at its end, by class and by site (the method that allocates), how many
 * objects and bytes it has allocated, and how many of them live; the others have died, since it collects garbage before. What
 * is not kept dies at the next collection of young objects, whose end the JVM tells: so the mean lifetime of the dead is known, too.
 * For coverage.py.
 *
 *     java Coverage SCENARIO
 */
final class Coverage {
    static class Small { long a; }
    static class Other { long a, b, c, d; }
    static class Rare { int a; }
    static class Item { }

    static volatile Object sink;
    static final List<Object> kept = new ArrayList<>(2_000_000);
    static final Map<String, long[]> classes = new HashMap<>(), sites = new HashMap<>();

    // Sites.
    static Object small() { return new Small(); }
    static Object smallToo() { return new Small(); }
    static Object smallRarely() { return new Small(); }
    static Object other() { return new Other(); }
    static Object otherToo() { return new Other(); }
    static Object rare() { return new Rare(); }
    static Object array(int length) { return new Item[length]; }
    static Object arrayToo(int length) { return new Item[length]; }
    static Object arrayAgain(int length) { return new Item[length]; }

    /** The bytes of an object by the JVM's own counter. These objects count, too. */
    static long bytesOf(String site, String type, Supplier<Object> make) {
        var threads = (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();
        long least = Long.MAX_VALUE;
        for (int i = 0; i < 4; i++) {
            long first = threads.getCurrentThreadAllocatedBytes(), from = threads.getCurrentThreadAllocatedBytes();
            sink = make.get();
            long to = threads.getCurrentThreadAllocatedBytes();
            least = Math.min(least, to - from - (from - first));
        }
        add(classes, type, 4, least, 0);
        add(sites, site, 4, least, 0);
        return least;
    }

    static synchronized void add(Map<String, long[]> to, String name, long objects, long bytesEach, long kept) {
        long[] sums = to.computeIfAbsent(name, key -> new long[4]);
        sums[0] += objects;
        sums[1] += objects * bytesEach;
        sums[2] += kept;
        sums[3] += kept * bytesEach;
    }

    static final long HUMONGOUS = 500_000; // these die at collections of all objects only
    static final ConcurrentSkipListSet<Long> ends = new ConcurrentSkipListSet<>(); // of collections, by the JVM's clock
    static long clockStart = Long.MAX_VALUE; // of that clock, by System.nanoTime()

    /** So many objects that die were made at about this time. */
    record Born(String site, String type, long time, int dying) { }
    static final ConcurrentLinkedQueue<Born> born = new ConcurrentLinkedQueue<>();

    static List<GarbageCollectorMXBean> collectors() {
        return ManagementFactory.getGarbageCollectorMXBeans().stream()
                .filter(bean -> bean.getName().endsWith("Young Generation") || bean.getName().endsWith("Old Generation")).toList();
    }

    static long unwatched;

    static long collectionCount() {
        return collectors().stream().mapToLong(GarbageCollectorMXBean::getCollectionCount).sum();
    }

    /**
     * The JVM says when a collection ended in milliseconds since some moment of its start, rounded down: that moment is as late as
     * some collections that have just ended allow.
     */
    static void watchCollections() {
        unwatched = collectionCount();
        for (GarbageCollectorMXBean bean : collectors())
            ((NotificationEmitter) bean).addNotificationListener((notification, unused) -> {
                if (notification.getType().equals(GarbageCollectionNotificationInfo.GARBAGE_COLLECTION_NOTIFICATION)) {
                    var info = GarbageCollectionNotificationInfo.from((CompositeData) notification.getUserData()).getGcInfo();
                    ends.add(info.getEndTime() * 1_000_000);
                }
            }, null, null);
        var ofAll = (com.sun.management.GarbageCollectorMXBean) collectors().stream().filter(bean -> bean.getName().contains("Old")).findAny().orElse(null);
        for (int i = 0; i < 8 && ofAll != null; i++) {
            System.gc();
            long now = System.nanoTime();
            clockStart = Math.min(clockStart, now - ofAll.getLastGcInfo().getEndTime() * 1_000_000);
        }
    }

    /** Mean lifetimes, when all collections have been told. */
    static void printLives() throws InterruptedException {
        for (int i = 0; i < 500 && ends.size() < collectionCount() - unwatched; i++)
            Thread.sleep(10);
        Map<String, double[]> lives = new HashMap<>();
        for (Born some : born) {
            Long died = ends.ceiling(some.time - clockStart);
            for (String of : new String[] {"class " + some.type, "site " + some.site}) {
                double[] sums = lives.computeIfAbsent(of, key -> new double[2]);
                sums[0] += died == null ? Double.NaN : some.dying * (double) (died + clockStart - some.time);
                sums[1] += some.dying;
            }
        }
        lives.forEach((of, sums) -> {
            if (!Double.isNaN(sums[0]) && sums[1] > 0)
                System.out.printf("life %s %d%n", of, (long) (sums[0] / sums[1]));
        });
    }

    /** One kind of object from one site. */
    record Maker(String site, String type, Supplier<Object> make, long bytesEach) {
        static Maker of(String site, String type, Supplier<Object> make) {
            return new Maker(site, type, make, bytesOf(site, type, make));
        }

        void make(int count) {
            keep(count, Integer.MAX_VALUE);
        }

        /** Keeps one in `every`; none, if that is the largest number. */
        void keep(int count, int every) {
            int stays = 0, most = (int) Math.max(1, Math.min(256, 16_384 / bytesEach));
            for (int done = 0; done < count; done += most) {
                int dying = 0;
                long begun = System.nanoTime();
                for (int i = done; i < Math.min(count, done + most); i++) {
                    Object made = make.get();
                    sink = made;
                    if (every != Integer.MAX_VALUE && i % every == 0) {
                        kept.add(made);
                        stays++;
                    } else {
                        dying++;
                    }
                }
                if (bytesEach < HUMONGOUS)
                    born.add(new Born(site, type, begun + (System.nanoTime() - begun) / 2, dying));
            }
            note(count, stays);
        }

        private void note(int count, int stays) {
            add(classes, type, count, bytesEach, stays);
            add(sites, site, count, bytesEach, stays);
        }
    }

    static final String SMALL = "Coverage$Small", OTHER = "Coverage$Other", RARE = "Coverage$Rare", ARRAY = "[LCoverage$Item;";

    static Maker smalls() { return Maker.of("small", SMALL, Coverage::small); }
    static Maker others() { return Maker.of("other", OTHER, Coverage::other); }
    static Maker arrays(int length) { return Maker.of("array", ARRAY, () -> array(length)); }

    /** The mixes in which older JVMs sample with a bias. */
    static void mix(int rounds, int large, int length, int small) {
        Maker arrays = arrays(length), smalls = smalls();
        for (int i = 0; i < rounds; i++) {
            arrays.make(large);
            smalls.keep(small, 10);
        }
    }

    /** One class of arrays with sizes from some bytes to 100 KB, each site its own. */
    static void sizes() {
        Maker large = arrays(25_000), few = Maker.of("arrayToo", ARRAY, () -> arrayToo(2));
        for (int i = 0; i < 20; i++) {
            large.keep(15, 5);
            few.keep(20_000, 100);
        }
    }

    /** The same with a third size, at a third site. */
    static void threeSizes() {
        Maker large = arrays(25_000), few = Maker.of("arrayToo", ARRAY, () -> arrayToo(2));
        Maker medium = Maker.of("arrayAgain", ARRAY, () -> arrayAgain(400));
        for (int i = 0; i < 20; i++) {
            large.keep(10, 5);
            medium.keep(200, 10);
            few.keep(20_000, 100);
        }
    }

    static void threads(int count, int objects, boolean atOnce) throws InterruptedException {
        Maker smalls = smalls(), others = others(), too = Maker.of("smallToo", SMALL, Coverage::smallToo);
        List<Thread> all = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            Maker mine = i % 3 == 0 ? smalls : i % 3 == 1 ? others : too;
            Thread thread = new Thread(() -> mine.make(objects));
            all.add(thread);
            thread.start();
            if (!atOnce)
                thread.join();
        }
        for (Thread thread : all)
            thread.join();
    }

    static void huge() {
        Maker huge = arrays(1_000_000), smalls = smalls();
        for (int i = 0; i < 12; i++) {
            huge.keep(1, 6);
            smalls.keep(60_000, 3);
        }
    }

    /** A class of which there is perhaps no sample. */
    static void rareOnes() {
        Maker rare = Maker.of("rare", RARE, Coverage::rare), smalls = smalls(), others = others();
        for (int i = 0; i < 20; i++) {
            rare.keep(100, 2);
            smalls.keep(40_000, 4);
            others.make(10_000);
        }
    }

    static void bursts() throws InterruptedException {
        Maker smalls = smalls(), others = others();
        for (int i = 0; i < 6; i++) {
            smalls.keep(150_000, 20);
            others.keep(30_000, 20);
            Thread.sleep(40);
        }
    }

    /** One class begins where another one ends. */
    static void phases() {
        Maker smalls = smalls(), others = others(), arrays = arrays(1_000);
        smalls.keep(800_000, 8);
        arrays.keep(3_000, 4);
        others.keep(500_000, 8);
    }

    static void deeper(Maker maker, int depth) {
        if (depth > 0)
            deeper(maker, depth - 1);
        maker.keep(4_000, 7);
    }

    static void recursion() {
        Maker smalls = smalls(), too = Maker.of("smallToo", SMALL, Coverage::smallToo), others = others();
        for (int i = 0; i < 10; i++) {
            deeper(smalls, 12);
            deeper(too, 4);
            deeper(others, 8);
        }
    }

    /** One class from three sites, one of them seldom, one beside large arrays. */
    static void siteMix() {
        Maker arrays = arrays(20_000), smalls = smalls(), too = Maker.of("smallToo", SMALL, Coverage::smallToo);
        Maker rarely = Maker.of("smallRarely", SMALL, Coverage::smallRarely);
        for (int i = 0; i < 30; i++) {
            for (int k = 0; k < 5; k++) {
                arrays.make(1);
                too.make(2_000);
            }
            smalls.keep(30_000, 5);
            rarely.keep(1_500, 2);
        }
    }

    /** One class from two sites, one of them beside many large arrays: older JVMs sample it too often there. */
    static void siteBias() {
        Maker arrays = arrays(25_000), smalls = smalls(), too = Maker.of("smallToo", SMALL, Coverage::smallToo);
        for (int i = 0; i < 8; i++) {
            arrays.make(100);
            too.keep(10_000, 5);
            smalls.keep(40_000, 5);
        }
    }

    /** The same, with few objects beside the large arrays. */
    static void siteFew() {
        Maker arrays = arrays(25_000), smalls = smalls(), too = Maker.of("smallToo", SMALL, Coverage::smallToo);
        for (int i = 0; i < 8; i++) {
            arrays.make(100);
            too.keep(2_000, 5);
            smalls.keep(48_000, 5);
        }
    }

    /** Medium-sized objects that end allocation buffers. */
    static void medium() {
        Maker medium = arrays(500), few = Maker.of("arrayToo", ARRAY, () -> arrayToo(1_500)), smalls = smalls();
        for (int i = 0; i < 20; i++) {
            medium.keep(600, 6);
            few.keep(150, 3);
            smalls.make(25_000);
        }
    }

    static void print(String what, Map<String, long[]> from) {
        from.forEach((name, sums) -> System.out.printf("%s %s %d %d %d %d%n", what, name, sums[0], sums[1], sums[2], sums[3]));
    }

    public static void main(String[] args) throws InterruptedException {
        watchCollections();
        switch (args[0]) {
            case "mix-1" -> mix(40, 1, 250_000, 20_000);
            case "mix-10" -> mix(20, 10, 25_000, 40_000);
            case "mix-150" -> mix(8, 150, 25_000, 10_000);
            case "sizes" -> sizes();
            case "three-sizes" -> threeSizes();
            case "threads" -> threads(12, 150_000, true);
            case "short-threads" -> threads(60, 25_000, false);
            case "huge" -> huge();
            case "rare" -> rareOnes();
            case "bursts" -> bursts();
            case "phases" -> phases();
            case "recursion" -> recursion();
            case "site-mix" -> siteMix();
            case "site-bias" -> siteBias();
            case "site-few" -> siteFew();
            case "medium" -> medium();
            default -> throw new IllegalArgumentException(args[0]);
        }
        sink = null;
        System.gc();
        Thread.sleep(20);
        print("class", classes);
        print("site", sites);
        printLives();
    }
}
