// SPDX-License-Identifier: Apache-2.0
package facts;

/**
 * For engine=sampled with rotate=: objects that live across files, and of which some die in a later
 * one.  tests/jvm/sampled_cases.py lets files change between the stages, and knows the numbers.
 */
public class SampledSet {
    static class Early { long a, b, c, d; }
    static class Late { long a, b, c, d, e, f; }
    static class Dropped { long a; }

    static final int MADE = 20_000;
    static Early[] early = new Early[MADE];
    static final Late[] late = new Late[MADE];
    static volatile Object sink;

    static void drop() {
        for (int i = 0; i < MADE; i++)
            sink = new Dropped();
        sink = null;
    }

    static void stage(String name) throws Exception {
        Support.collect();
        Support.meet(name);
    }

    public static void main(String[] args) throws Exception {
        Support.meet("begin");
        Support.passFirstSample();
        for (int i = 0; i < MADE; i++)
            early[i] = new Early();
        drop();
        stage("made");
        for (int i = 0; i < MADE; i++)
            late[i] = new Late();
        drop();
        stage("both");
        early = null;
        stage("fewer");
        drop();
        stage("last");
        System.out.println("late " + late.length);
    }
}
