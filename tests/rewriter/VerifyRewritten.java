// SPDX-License-Identifier: Apache-2.0

import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassHierarchyResolver;
import java.net.URI;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * Rewrites every class of the given JDKs, jars and directories with all probes, through the program
 * rewrite_stream, has the JDK's class file verifier look at the results and compares the tables of
 * their code with the old ones.  Needs JDK 24 or later.
 *
 * <pre>java VerifyRewritten.java REWRITE_STREAM MODE EVERY [--write=DIRECTORY] PATH...</pre>
 *
 * MODE is all, alloc or method; EVERY is 1 for all classes, N for each N-th one.  A path is a JDK, a
 * jar or a directory of classes; classes may need those of any other path.  With --write, the
 * rewritten classes go into that directory.  Exits with 1 if a class that verified before does
 * not afterwards, whose tables are not the old ones, or that verifies and was taken for malformed.
 */
public class VerifyRewritten {
    private static final int CHANGED = 0, UNCHANGED = 1;

    private static final class Counts {
        int classes, changed, unchanged, refused, refusedGood, badBefore, linked, badAfter, leftAlone;
        long bytes, nanoseconds;

        void add(Counts other) {
            classes += other.classes;
            changed += other.changed;
            unchanged += other.unchanged;
            refused += other.refused;
            refusedGood += other.refusedGood;
            badBefore += other.badBefore;
            linked += other.linked;
            badAfter += other.badAfter;
            leftAlone += other.leftAlone;
            bytes += other.bytes;
            nanoseconds += other.nanoseconds;
        }

        @Override
        public String toString() {
            return String.format("%d classes, %.1f MB: %d changed, %d unchanged, %d refused (%d of them"
                    + " verify), %d linked by the JVM instead, %d do not verify unchanged, %d methods left"
                    + " alone, %d BROKEN, %.3f s in the rewriter", classes, bytes / 1e6, changed,
                    unchanged, refused, refusedGood, linked, badBefore, leftAlone, badAfter,
                    nanoseconds / 1e9);
        }
    }

    private final DataOutputStream to;
    private final DataInputStream from;
    private final int every;
    private final Counts all = new Counts();
    private final Map<String, Path> everywhere = new HashMap<>();
    private final Loader plain = new Loader(false), probed = new Loader(true);
    private Path written;

    private VerifyRewritten(String program, String mode, int every) throws IOException {
        Process process = new ProcessBuilder(program, mode)
                .redirectError(ProcessBuilder.Redirect.INHERIT).start();
        to = new DataOutputStream(new BufferedOutputStream(process.getOutputStream(), 1 << 16));
        from = new DataInputStream(new BufferedInputStream(process.getInputStream(), 1 << 16));
        this.every = every;
    }

    /** Errors as text; a class file that the verifier can't even read has one, too. */
    private static List<String> errors(ClassFile verifier, byte[] bytes) {
        try {
            List<String> result = new ArrayList<>();
            for (VerifyError error : verifier.verify(bytes)) {
                result.add(String.valueOf(error.getMessage()));
            }
            return result;
        } catch (RuntimeException | Error e) {
            return List.of(e.toString());
        }
    }

    /** The rewriter's answer: a class file, or null where it is unchanged; refusals are counted. */
    private byte[] rewrite(byte[] bytes, Counts counts, String[] refusal) throws IOException {
        to.writeInt(bytes.length);
        to.write(bytes);
        to.flush();
        int result = from.readInt();
        counts.nanoseconds += from.readLong();
        counts.leftAlone += from.readInt();
        byte[] answer = new byte[from.readInt()];
        from.readFully(answer);
        if (result != CHANGED && result != UNCHANGED) {
            refusal[0] = new String(answer);
        }
        return result == CHANGED ? answer : null;
    }

    private void check(ClassFile verifier, String title, String name, byte[] bytes, Counts counts)
            throws IOException {
        String[] refusal = new String[1];
        byte[] answer = rewrite(bytes, counts, refusal);
        counts.classes++;
        counts.bytes += bytes.length;
        if (answer == null && refusal[0] == null) {
            counts.unchanged++;
            return;
        }
        boolean good = errors(verifier, bytes).isEmpty();
        if (answer == null) {
            counts.refused++;
            counts.refusedGood += good ? 1 : 0;
            System.out.println(title + ": " + name + ": refused: " + refusal[0]);
            return;
        }
        counts.changed++;
        List<String> faults = good ? errors(verifier, answer) : link(name, counts);
        if (faults.isEmpty()) {
            String difference = CompareTables.compare(bytes, answer);
            faults = difference == null ? faults : List.of(difference);
        }
        if (!faults.isEmpty()) {
            counts.badAfter++;
            System.out.println(title + ": " + name + ": BROKEN: " + faults.get(0));
        }
        if (written != null) {
            write(name, answer);
        }
    }

    /** Loads all classes of all paths, as they are or rewritten. */
    private final class Loader extends ClassLoader {
        private final boolean rewriting;

        Loader(boolean rewriting) {
            super(ClassLoader.getPlatformClassLoader());
            this.rewriting = rewriting;
        }

        @Override
        protected Class<?> findClass(String name) throws ClassNotFoundException {
            Path path = everywhere.get(name.replace('.', '/') + ".class");
            if (path == null) {
                throw new ClassNotFoundException(name);
            }
            try {
                byte[] bytes = Files.readAllBytes(path);
                byte[] answer = rewriting ? rewrite(bytes, new Counts(), new String[1]) : null;
                bytes = answer != null ? answer : bytes;
                return defineClass(name, bytes, 0, bytes.length);
            } catch (IOException e) {
                throw new ClassNotFoundException(name, e);
            }
        }

        /** What goes wrong when the class is linked, or null. */
        Throwable link(String name) {
            try {
                Class.forName(name, false, this).getDeclaredMethods();
                return null;
            } catch (ReflectiveOperationException | RuntimeException | LinkageError e) {
                return e;
            }
        }
    }

    /**
     * What the class file verifier can't judge (class files from before Java 6, and those whose
     * superclasses are missing) the JVM's own verifiers may.
     */
    private List<String> link(String file, Counts counts) {
        String name = file.substring(0, file.length() - ".class".length()).replace('/', '.');
        Throwable before = plain.link(name);
        if (before instanceof VerifyError || before instanceof ClassFormatError
                || before instanceof ReflectiveOperationException || before instanceof RuntimeException) {
            counts.badBefore++;
            return List.of();
        }
        Throwable after = probed.link(name);
        counts.linked++;
        boolean same = before == null ? after == null
                : after != null && before.getClass() == after.getClass();
        return same ? List.of() : List.of(String.valueOf(after));
    }

    private void write(String name, byte[] bytes) throws IOException {
        Path path = written.resolve(name);
        Files.createDirectories(path.getParent());
        Files.write(path, bytes);
    }

    private static Map<String, Path> find(List<Path> roots) throws IOException {
        Map<String, Path> files = new TreeMap<>();
        for (Path root : roots) {
            try (Stream<Path> found = Files.walk(root)) {
                found.filter(p -> p.toString().endsWith(".class")).forEach(
                        p -> files.putIfAbsent(root.relativize(p).toString(), p));
            }
        }
        return files;
    }

    /** Checks the classes below these roots, which may name each other and those of other paths. */
    private void checkAll(String title, List<Path> roots) throws IOException {
        Map<String, Path> files = find(roots);
        ClassFile verifier = ClassFile.of(ClassFile.ClassHierarchyResolverOption.of(resolver(files)));
        Counts counts = new Counts();
        int seen = 0;
        for (Map.Entry<String, Path> file : files.entrySet()) {
            if (seen++ % every == 0) {
                check(verifier, title, file.getKey(), Files.readAllBytes(file.getValue()), counts);
            }
        }
        System.out.println(title + ": " + counts);
        all.add(counts);
    }

    private ClassHierarchyResolver resolver(Map<String, Path> files) {
        ClassHierarchyResolver own = ClassHierarchyResolver.ofResourceParsing(type -> {
            String name = type.descriptorString();
            String file = name.substring(1, name.length() - 1) + ".class";
            Path path = files.getOrDefault(file, everywhere.get(file));
            try {
                return path == null ? null : (InputStream) Files.newInputStream(path);
            } catch (IOException e) {
                return null;
            }
        });
        return own.orElse(ClassHierarchyResolver.defaultResolver()).cached();
    }

    /** The roots of a path; what has to be opened for them stays open. */
    private static List<Path> roots(Path path) throws IOException {
        if (Files.exists(path.resolve("lib/jrt-fs.jar"))) {
            URI uri = URI.create("jrt:/");
            FileSystem image = FileSystems.newFileSystem(uri, Map.of("java.home", path.toString()));
            try (Stream<Path> modules = Files.list(image.getPath("/modules"))) {
                return modules.toList();
            }
        }
        return List.of(Files.isDirectory(path) ? path : FileSystems.newFileSystem(path).getPath("/"));
    }

    public static void main(String[] args) throws IOException {
        VerifyRewritten verify = new VerifyRewritten(args[0], args[1], Integer.parseInt(args[2]));
        Map<Path, List<Path>> paths = new LinkedHashMap<>();
        for (int i = 3; i < args.length; i++) {
            if (args[i].startsWith("--write=")) {
                verify.written = Path.of(args[i].substring("--write=".length()));
            } else {
                paths.put(Path.of(args[i]), roots(Path.of(args[i])));
            }
        }
        for (List<Path> roots : paths.values()) {
            verify.everywhere.putAll(find(roots));
        }
        for (Map.Entry<Path, List<Path>> path : paths.entrySet()) {
            verify.checkAll(path.getKey().toString(), path.getValue());
        }
        verify.to.close();
        System.out.println("all: " + verify.all);
        if (verify.all.classes == 0 || verify.all.badAfter > 0 || verify.all.refusedGood > 0) {
            System.exit(1);
        }
    }
}
