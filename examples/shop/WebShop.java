// SPDX-License-Identifier: Apache-2.0
package com.acme.shop;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CyclicBarrier;

/**
 * The program that the pages in docs/answers ask about: a shop whose threads answer requests, whose catalogue is a cache,
 * whose sessions leak, and which makes a report in the middle of its run. Arguments: the number of requests, and "fixed" if all
 * sessions end.
 */
public class WebShop {
    record Line(String item, int pieces, long price) {}

    record Order(int customer, List<Line> lines) {
        long sum() {
            long sum = 0;
            for (Line line : lines)
                sum += line.pieces() * line.price();
            return sum;
        }
    }

    record Product(String name, byte[] picture) {}

    /** Keeps the latest 400 products. */
    static class Catalogue extends LinkedHashMap<Integer, Product> {
        synchronized Product find(int number) {
            return computeIfAbsent(number, WebShop::load);
        }

        @Override
        protected boolean removeEldestEntry(Map.Entry<Integer, Product> eldest) {
            return size() > 400;
        }
    }

    record Session(List<String> pages, long[] times) {}

    /** Forgets to end some. */
    static class Sessions {
        private final Map<Integer, Session> open = new HashMap<>();

        synchronized void visit(int session, String page) {
            open.computeIfAbsent(session, key -> new Session(new ArrayList<>(), new long[64])).pages().add(page);
        }

        synchronized void end(int session) {
            open.remove(session);
        }
    }

    private static final Catalogue catalogue = new Catalogue();
    private static final Sessions sessions = new Sessions();
    private static final ArrayDeque<Order> lately = new ArrayDeque<>();
    private static final int THREADS = 3;
    private static boolean fixed;
    private static List<String> rows;
    /** All threads have answered as many requests when the report is made, so that each run has the same orders in it. */
    private static final CyclicBarrier reporting = new CyclicBarrier(THREADS, () -> rows = report());

    static Product load(int number) {
        return new Product("product " + number, new byte[1024]);
    }

    static Order parse(String request) {
        List<Line> lines = new ArrayList<>();
        String[] fields = request.split(";");
        for (int i = 1; i < fields.length; i++) {
            String[] parts = fields[i].split(",");
            lines.add(new Line(parts[0], Integer.parseInt(parts[1]), Long.parseLong(parts[2])));
        }
        return new Order(Integer.parseInt(fields[0]), lines);
    }

    static String page(Order order) {
        StringBuilder page = new StringBuilder();
        for (Line line : order.lines())
            page.append("<li>").append(line.item()).append(": ").append(line.pieces()).append("</li>");
        return page.append("<p>").append(order.sum()).append("</p>").toString();
    }

    static void answer(int number, Random random) {
        StringBuilder request = new StringBuilder().append(number % 5000);
        for (int i = 0; i < 4; i++)
            request.append(';').append(catalogue.find(random.nextInt(440)).name()).append(',').append(i + 1).append(",1999");
        Order order = parse(request.toString());
        sessions.visit(number, page(order));
        if (fixed || number % 8 != 0)
            sessions.end(number);
        synchronized (lately) {
            lately.add(order);
            if (lately.size() > 2000)
                lately.remove();
        }
    }

    /** All orders of late, several times: the peak. */
    static List<String> report() {
        List<String> rows = new ArrayList<>();
        synchronized (lately) {
            for (int copy = 0; copy < 10; copy++)
                for (Order order : lately)
                    rows.add("customer " + order.customer() + " pays " + order.sum());
        }
        return rows;
    }

    static void serve(int first, int requests) {
        Random random = new Random(first);
        for (int number = first; number < requests; number += THREADS) {
            answer(number, random);
            if (number - first == requests * 3 / 5 / THREADS * THREADS)
                await(reporting);
            if (number == requests * 7 / 10 / THREADS * THREADS)
                rows = null;
        }
    }

    static void await(CyclicBarrier barrier) {
        try {
            barrier.await();
        } catch (InterruptedException | BrokenBarrierException stopped) {
            throw new IllegalStateException(stopped);
        }
    }

    public static void main(String[] arguments) throws InterruptedException {
        int requests = arguments.length > 0 ? Integer.parseInt(arguments[0]) : 20000;
        fixed = arguments.length > 1 && arguments[1].equals("fixed");
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < THREADS; i++) {
            int first = i;
            threads.add(new Thread(() -> serve(first, requests), "http-" + (i + 1)));
        }
        for (Thread thread : threads)
            thread.start();
        for (Thread thread : threads)
            thread.join();
        System.out.println(requests + " requests");
    }
}
