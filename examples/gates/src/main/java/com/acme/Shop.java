// SPDX-License-Identifier: Apache-2.0
package com.acme;

import java.util.ArrayList;
import java.util.List;

/** Keeps orders. */
public class Shop {
    private final List<byte[]> orders = new ArrayList<>();

    public void order(int bytes) {
        orders.add(new byte[bytes]);
    }

    public int count() {
        return orders.size();
    }
}
