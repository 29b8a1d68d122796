// SPDX-License-Identifier: Apache-2.0
package steptrace.junit;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import steptrace.limits.Sites;

/**
 * The file of what tests allocate: a line for each, sorted, with the JDKs on which it was seen.
 *
 * <pre>
 * com.acme.ShopTest.checkout [17 25]: 12 objects, 600 bytes: 10 com.acme.Item, 2 byte[]
 * </pre>
 *
 * A test has a second line where a JDK allocates something else. JVMs that run tests side by side may write it.
 */
final class Snapshot {
    private static final Path FILE = Path.of(System.getProperty("steptrace.snapshot", "allocations.snap"));
    private static final boolean IS_WRITTEN = Boolean.getBoolean("steptrace.update");
    private static final String HEAD = "# What tests allocate, on which JDKs. -Dsteptrace.update=true writes it.\n";
    private static final Pattern LINE = Pattern.compile("(.+) \\[(\\d{1,5}(?: \\d{1,5})*)\\]: ((\\d{1,18}) objects?, "
            + "(\\d{1,18}) bytes.*)");
    private static final int LARGEST = 3;
    private static final int JDK = Runtime.version().feature();

    private record Line(String test, SortedSet<Integer> jdks, String counts, long objects, long bytes) {
        private static Line of(String text, int number) throws IOException {
            Matcher parts = LINE.matcher(text);
            if (!parts.matches())
                throw new IOException(FILE + ":" + number + ": not a line of a snapshot: " + text);
            SortedSet<Integer> jdks = new TreeSet<>();
            for (String jdk : parts.group(2).split(" "))
                jdks.add(Integer.valueOf(jdk));
            return new Line(parts.group(1), jdks, parts.group(3), Long.parseLong(parts.group(4)),
                    Long.parseLong(parts.group(5)));
        }

        private static Line of(String test, Sites sites) {
            return new Line(test, new TreeSet<>(List.of(JDK)), sites.summary(LARGEST), sites.objects(), sites.bytes());
        }

        @Override
        public String toString() {
            return test + " [" + jdks.stream().map(String::valueOf).collect(Collectors.joining(" ")) + "]: " + counts
                    + "\n";
        }
    }

    private Snapshot() {
    }

    /** Whether lines are written, and nothing is compared. */
    static boolean isWritten() {
        return IS_WRITTEN;
    }

    /** Writes the test's line. */
    static void write(String test, Sites sites) throws IOException {
        try (FileChannel file = FileChannel.open(FILE, StandardOpenOption.CREATE, StandardOpenOption.READ,
                StandardOpenOption.WRITE)) {
            file.lock();
            List<Line> lines = lines(file);
            add(lines, Line.of(test, sites));
            lines.sort(Comparator.comparing(Line::test).thenComparing(line -> line.jdks.first()));
            byte[] text = (HEAD + lines.stream().map(Line::toString).collect(Collectors.joining()))
                    .getBytes(StandardCharsets.UTF_8);
            file.truncate(0);
            for (ByteBuffer rest = ByteBuffer.wrap(text); rest.hasRemaining();)
                file.write(rest, rest.position());
        }
    }

    private static void add(List<Line> lines, Line seen) {
        for (Line line : lines)
            if (line.test.equals(seen.test))
                line.jdks.remove(JDK);
        lines.removeIf(line -> line.jdks.isEmpty());
        for (Line line : lines)
            if (line.test.equals(seen.test) && line.counts.equals(seen.counts)) {
                line.jdks.add(JDK);
                return;
            }
        lines.add(seen);
    }

    /** What is wrong with what the test allocates; empty if nothing is. */
    static String fault(String test, Sites sites, Limit limit) throws IOException {
        List<Line> known = new ArrayList<>();
        try (FileChannel file = FileChannel.open(FILE, StandardOpenOption.READ)) {
            file.lock(0, Long.MAX_VALUE, true);
            known.addAll(lines(file));
        } catch (NoSuchFileException fault) {
            return test + ": there is no " + FILE + "; -Dsteptrace.update=true writes it\n";
        }
        known.removeIf(line -> !line.test.equals(test));
        if (known.isEmpty())
            return test + " has no line in " + FILE + "; -Dsteptrace.update=true writes it\n";
        if (known.size() > 1)
            known.removeIf(line -> !line.jdks.contains(JDK));
        if (known.isEmpty())
            return test + " has lines of other JDKs in " + FILE + ", and none of JDK " + JDK
                    + "; -Dsteptrace.update=true writes it\n";
        return fault(known.get(0), Line.of(test, sites), sites, limit);
    }

    private static String fault(Line known, Line seen, Sites sites, Limit limit) {
        boolean isNear = Math.abs(known.objects - seen.objects) <= limit.objects()
                && Math.abs(known.bytes - seen.bytes) <= limit.bytes();
        boolean isExact = limit.objects() == 0 && limit.bytes() == 0;
        if (isExact ? known.counts.equals(seen.counts) : isNear)
            return "";
        return seen.test + " allocates " + seen.counts + "\n  " + FILE + " has " + known.counts
                + "; -Dsteptrace.update=true writes the new line\n" + sites.table(seen.test.replaceFirst("#.*", ""));
    }

    /** The caller holds the file's lock. */
    private static List<Line> lines(FileChannel file) throws IOException {
        ByteBuffer bytes = ByteBuffer.allocate(Math.toIntExact(Math.min(file.size(), 1 << 28)));
        while (bytes.hasRemaining() && file.read(bytes, bytes.position()) > 0)
            continue;
        List<Line> lines = new ArrayList<>();
        int number = 0;
        for (String text : new String(bytes.array(), 0, bytes.position(), StandardCharsets.UTF_8).split("\n")) {
            number++;
            if (!text.isBlank() && !text.startsWith("#"))
                lines.add(Line.of(text, number));
        }
        return lines;
    }
}
