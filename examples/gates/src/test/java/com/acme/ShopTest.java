// SPDX-License-Identifier: Apache-2.0
package com.acme;

import static org.junit.Assert.assertEquals;

import org.junit.Test;

public class ShopTest {
    @Test
    public void keepsOrders() {
        Shop shop = new Shop();
        for (int i = 0; i < 100; i++)
            shop.order(Integer.getInteger("order.bytes", 100));
        assertEquals(100, shop.count());
    }
}
