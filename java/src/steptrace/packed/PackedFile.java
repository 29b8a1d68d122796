// SPDX-License-Identifier: Apache-2.0
package steptrace.packed;

import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;

/** A file of the JAR file for this machine, {@code native/linux-amd64/NAME}, in a directory of its own. */
public final class PackedFile implements AutoCloseable {
    private static final String DIGEST = ".sha256";
    private static final int WRITABLE_BY_OTHERS = 022;

    /** Descriptors that stay open as long as the JVM runs; the JVM closes those of objects that nobody refers to. */
    private static final List<FileInputStream> OPEN = new CopyOnWriteArrayList<>();

    private final String place;
    private final Path file;

    /**
     * Unpacks it into a new directory of java.io.tmpdir, which nobody else may enter.
     *
     * @param mode of the file: "rwx------"
     * @throws IOException if the JAR file has none for this machine, or it is not the one that was packed
     */
    public PackedFile(String name, String mode) throws IOException {
        place = "native/" + machine() + "/" + name;
        byte[] content = resource(place);
        check(digest().digest(content));
        Path directory = newDirectory();
        file = directory.resolve(name);
        Set<OpenOption> fresh = Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
        try (var out = Files.newByteChannel(file, fresh, attribute(mode))) {
            ByteBuffer bytes = ByteBuffer.wrap(content);
            while (bytes.hasRemaining())
                out.write(bytes);
        } catch (IOException fault) {
            close();
            boolean hasPath = fault instanceof FileSystemException;
            throw new IOException(file + ": " + (hasPath ? fault.getClass().getSimpleName() : fault.getMessage()), fault);
        }
    }

    /** Where it is until it is closed. */
    public Path path() {
        return file;
    }

    /**
     * A name under which this process and its children can run the file even when its path is gone: that of an open descriptor.
     * What it names is what was packed, whoever may change the directories of the path.
     */
    public Path descriptor() throws IOException {
        FileInputStream open = new FileInputStream(file.toFile());
        OPEN.add(open);
        Path found = Descriptors.of(file);
        Map<String, Object> seen = Files.readAttributes(found, "unix:uid,mode");
        boolean isOurs = seen.get("uid").equals(Descriptors.user())
                && ((Integer) seen.get("mode") & WRITABLE_BY_OTHERS) == 0;
        if (!isOurs)
            throw new IOException(file + ": another user may write it");
        MessageDigest digest = digest();
        byte[] bytes = new byte[1 << 16];
        for (int length; (length = open.read(bytes)) > 0;)
            digest.update(bytes, 0, length);
        check(digest.digest());
        return Path.of("/proc", String.valueOf(ProcessHandle.current().pid()), "fd", found.getFileName().toString());
    }

    /** Removes file and directory. */
    @Override
    public void close() throws IOException {
        Files.deleteIfExists(file);
        Files.deleteIfExists(file.getParent());
    }

    private static Path newDirectory() throws IOException {
        try {
            return Files.createTempDirectory("steptrace-", attribute("rwx------"));
        } catch (IOException fault) {
            throw new IOException("no new directory in java.io.tmpdir: " + fault, fault);
        }
    }

    private static FileAttribute<?> attribute(String mode) {
        return PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString(mode));
    }

    private static String machine() {
        String system = System.getProperty("os.name", "").toLowerCase(Locale.ROOT);
        String machine = System.getProperty("os.arch", "");
        return system + "-" + (machine.equals("x86_64") ? "amd64" : machine);
    }

    private void check(byte[] digest) throws IOException {
        String wanted = new String(resource(place + DIGEST), StandardCharsets.US_ASCII).trim();
        if (!wanted.equals(HexFormat.of().formatHex(digest)))
            throw new IOException(place + " in steptrace.jar: its SHA-256 is not " + wanted);
    }

    private static byte[] resource(String place) throws IOException {
        try (InputStream in = PackedFile.class.getResourceAsStream("/" + place)) {
            if (in == null)
                throw new IOException("steptrace.jar has no " + place + ": it was not built for this machine");
            return in.readAllBytes();
        }
    }

    private static MessageDigest digest() throws IOException {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException fault) {
            throw new IOException("this JVM has no SHA-256", fault);
        }
    }
}
