// SPDX-License-Identifier: Apache-2.0
import java.util.ArrayList;
import java.util.List;

/** Holds 1,000 chunks of 1,024 bytes, then lets them go; a thread named to break a page helps. */
public class ReportSites {
    private static final List<byte[]> kept = new ArrayList<>();

    static byte[] chunk() {
        return new byte[1024];
    }

    static void hold() {
        for (int i = 0; i < 1000; i++) {
            kept.add(chunk());
        }
    }

    public static void main(String[] arguments) throws InterruptedException {
        Thread helper = new Thread(() -> kept.add(chunk()), "</script><script>document.title='broken'</script>");
        helper.start();
        helper.join();
        hold();
        Thread.sleep(20);
        kept.clear();
        System.gc();
        Thread.sleep(50);
    }
}
