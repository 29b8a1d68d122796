// SPDX-License-Identifier: Apache-2.0
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/** What tests/cli/data/shop-*.step were made of: a leak, a cache, temporary objects, a lambda, a proxy, a second thread. */
public class Shop {
    interface Price {
        Integer of(String item);
    }

    static final List<byte[]> orders = new ArrayList<>();
    static final Map<Integer, char[]> cache = new HashMap<>();
    static int sum;

    static void order(int bytes) {
        orders.add(new byte[bytes]);
    }

    static char[] lookUp(int key) {
        return cache.computeIfAbsent(key % 16, k -> new char[256]);
    }

    static void format(int times) {
        for (int i = 0; i < times; i++)
            sum += new StringBuilder("item ").append(i).toString().length();
    }

    public static void main(String[] args) throws Exception {
        int factor = Integer.parseInt(args[0]);
        Price price = (Price) Proxy.newProxyInstance(Shop.class.getClassLoader(), new Class<?>[] {Price.class},
                (self, method, arguments) -> ((String) arguments[0]).length());
        Function<Integer, int[]> baskets = n -> new int[n];
        for (int round = 0; round < 8; round++) {
            for (int i = 0; i < 10; i++) {
                order(100 * factor);
                lookUp(i);
                sum += price.of("tea") + baskets.apply(20).length;
            }
            format(20 * factor);
            Thread helper = new Thread(() -> format(10), "helper-" + round);
            helper.start();
            helper.join();
            System.gc();
        }
        System.out.println(sum > 0);
    }
}
