// SPDX-License-Identifier: Apache-2.0
import java.nio.file.Files;
import java.nio.file.Path;

/** Keeps N objects alive, in arrays, and says how much memory the process has beside files: KiB. */
public class LiveObjects {
    static final int ROW = 100_000;

    public static void main(String[] args) throws Exception {
        int count = Integer.parseInt(args[0]);
        Object[][] rows = new Object[count / ROW][];
        for (int i = 0; i < rows.length; i++) {
            rows[i] = new Object[ROW];
            for (int j = 0; j < ROW; j++)
                rows[i][j] = new Object();
        }
        for (int i = 0; i < 3; i++) {
            System.gc();
            Thread.sleep(2000);
        }
        for (String line : Files.readAllLines(Path.of("/proc/self/smaps_rollup")))
            if (line.startsWith("Anonymous:"))
                System.out.println(line.replaceAll("[^0-9]", ""));
        if (rows[rows.length - 1][ROW - 1] == null)
            throw new IllegalStateException();
    }
}
