// SPDX-License-Identifier: Apache-2.0
package steptrace.junit;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.concurrent.locks.LockSupport;
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
    private static final long MOST_BYTES = 1 << 26;
    private static final long LOCK_NS = 30_000_000_000L, LOCK_STEP_NS = 10_000_000;
    private static final int JDK = Runtime.version().feature();

    private record Line(String test, SortedSet<Integer> jdks, String counts, long objects, long bytes) {
        private static Line of(String text, int number) throws IOException {
            Matcher parts = LINE.matcher(text);
            if (!parts.matches())
                throw new IOException(FILE + ":" + number + ": not a line of a snapshot: " + text);
            SortedSet<Integer> jdks = new TreeSet<>();
            for (String jdk : parts.group(2).split(" "))
                if (!jdks.add(Integer.valueOf(jdk)))
                    throw new IOException(FILE + ":" + number + ": JDK " + jdk + " twice");
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

    /** Writes the test's line. A new file takes the place of the old one, which is whole until then. */
    static synchronized void write(String test, Sites sites) throws IOException {
        Path file = Place.of(FILE);
        try (FileChannel old = locked(file)) {
            List<Line> lines = lines(old);
            add(lines, Line.of(test, sites));
            lines.sort(Comparator.comparing(Line::test).thenComparing(line -> line.jdks.first()));
            Path written = Files.createTempFile(file.toAbsolutePath().getParent(), "." + file.getFileName(), ".new");
            try {
                Files.setPosixFilePermissions(written, Files.getPosixFilePermissions(file));
                Files.writeString(written, HEAD + lines.stream().map(Line::toString).collect(Collectors.joining()));
                Files.move(written, file, StandardCopyOption.ATOMIC_MOVE);
            } finally {
                Files.deleteIfExists(written);
            }
        }
    }

    /** The file, locked, and made if there is none. Another JVM may have replaced the one that was to be locked. */
    private static FileChannel locked(Path place) throws IOException {
        while (true) {
            String before = state(place);
            FileChannel file = FileChannel.open(place, StandardOpenOption.CREATE, StandardOpenOption.READ,
                    StandardOpenOption.WRITE, LinkOption.NOFOLLOW_LINKS);
            try {
                lock(file);
                if (state(place).equals(before))
                    return file;
                file.close();
            } catch (IOException fault) {
                file.close();
                throw fault;
            }
        }
    }

    /** Who may read the file may hold a lock of it. */
    private static void lock(FileChannel file) throws IOException {
        long end = System.nanoTime() + LOCK_NS;
        while (file.tryLock() == null) {
            if (System.nanoTime() - end > 0)
                throw new IOException(FILE + ": another process holds its lock");
            LockSupport.parkNanos(LOCK_STEP_NS);
        }
    }

    /** Says which file it is; empty if there is none. */
    private static String state(Path place) throws IOException {
        try {
            BasicFileAttributes now = Files.readAttributes(place, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
            if (!now.isRegularFile())
                throw new IOException(FILE + ": no regular file");
            return now.fileKey() + " " + now.lastModifiedTime();
        } catch (NoSuchFileException fault) {
            return "";
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
    static String fault(Subject subject, Sites sites, Limit limit) throws IOException {
        String test = subject.name();
        Path place = Place.of(FILE);
        if (state(place).isEmpty())
            return test + ": there is no " + FILE + "; -Dsteptrace.update=true writes it\n";
        List<Line> known = new ArrayList<>();
        try (FileChannel file = FileChannel.open(place, StandardOpenOption.READ, LinkOption.NOFOLLOW_LINKS)) {
            known.addAll(lines(file));
        }
        known.removeIf(line -> !line.test.equals(test));
        if (known.isEmpty())
            return test + " has no line in " + FILE + "; -Dsteptrace.update=true writes it\n";
        if (known.size() > 1)
            known.removeIf(line -> !line.jdks.contains(JDK));
        if (known.isEmpty())
            return test + " has lines of other JDKs in " + FILE + ", and none of JDK " + JDK
                    + "; -Dsteptrace.update=true writes it\n";
        String differs = difference(known.get(0), Line.of(test, sites), limit);
        return differs.isEmpty() ? "" : differs + sites.table(subject.frame());
    }

    private static String difference(Line known, Line seen, Limit limit) {
        boolean isNear = Math.abs(known.objects - seen.objects) <= limit.objects()
                && Math.abs(known.bytes - seen.bytes) <= limit.bytes();
        boolean isExact = limit.objects() == 0 && limit.bytes() == 0;
        if (isExact ? known.counts.equals(seen.counts) : isNear)
            return "";
        return seen.test + " allocates " + seen.counts + "\n  " + FILE + " has " + known.counts
                + "; -Dsteptrace.update=true writes the new line\n";
    }

    /** Of an open file: to close a second one would end the lock. */
    private static List<Line> lines(FileChannel file) throws IOException {
        if (file.size() > MOST_BYTES)
            throw new IOException(FILE + ": larger than " + MOST_BYTES + " bytes");
        ByteBuffer bytes = ByteBuffer.allocate((int) file.size());
        while (bytes.hasRemaining() && file.read(bytes, bytes.position()) > 0)
            continue;
        List<Line> lines = new ArrayList<>();
        Set<String> seen = new HashSet<>();
        int number = 0;
        for (String text : new String(bytes.array(), 0, bytes.position(), StandardCharsets.UTF_8).split("\r?\n")) {
            number++;
            if (text.isBlank() || text.startsWith("#"))
                continue;
            Line line = Line.of(text, number);
            for (int jdk : line.jdks)
                if (!seen.add(line.test + " [" + jdk + "]"))
                    throw new IOException(FILE + ":" + number + ": a second line of " + line.test + " for JDK " + jdk);
            lines.add(line);
        }
        return lines;
    }
}
