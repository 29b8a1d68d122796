// SPDX-License-Identifier: Apache-2.0
package steptrace.packed;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;

/** The open descriptors of this process: by their names, files are looked at that nobody can exchange meanwhile. */
public final class Descriptors {
    private static final Path ALL = Path.of("/proc/self/fd");

    private Descriptors() {
    }

    /** The name of a descriptor that is open on the file which the path names. */
    public static Path of(Path file) throws IOException {
        Object key = Files.readAttributes(file, BasicFileAttributes.class).fileKey();
        try (var descriptors = Files.newDirectoryStream(ALL)) {
            for (Path one : descriptors)
                if (Files.exists(one) && Files.readAttributes(one, BasicFileAttributes.class).fileKey().equals(key))
                    return one;
        }
        throw new IOException(file + ": no descriptor of it in " + ALL);
    }

    /** The number of the user whose process it is. */
    public static int user() throws IOException {
        return (Integer) Files.getAttribute(ALL, "unix:uid");
    }
}
