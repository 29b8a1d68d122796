// SPDX-License-Identifier: Apache-2.0
// TEST: collectors=none
package facts;

import java.io.InputStream;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;
import java.util.zip.ZipInputStream;

/** The SHA-256 of the text in a zipped trace, read by both of the JDK's readers. */
public class ReadZip {
    static String digest(InputStream in) throws Exception {
        MessageDigest digest = MessageDigest.getInstance("SHA-256");
        byte[] buffer = new byte[1 << 16];
        for (int count; (count = in.read(buffer)) >= 0;)
            digest.update(buffer, 0, count);
        return HexFormat.of().formatHex(digest.digest());
    }

    public static void main(String[] args) throws Exception {
        try (ZipFile zip = new ZipFile(args[0])) {
            System.out.println(zip.size() + " " + digest(zip.getInputStream(zip.getEntry("trace"))));
        }
        try (ZipInputStream zip = new ZipInputStream(new java.io.FileInputStream(args[0]))) {
            ZipEntry entry = zip.getNextEntry();
            System.out.println(entry.getName() + " " + digest(zip));
        }
    }
}
