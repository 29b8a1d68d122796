// SPDX-License-Identifier: Apache-2.0
package org.dacapo.harness;

/**
 * The methods that the harness of DaCapo calls around an iteration: startWarmup() and stopWarmup() those of
 * 9.12-bach and before, start() and stop() with `mode` those of 9.12-MR1 and after.
 */
public class Callback {
    protected enum Mode { WARMUP, TIMING }

    protected Mode mode = Mode.TIMING;

    public void warmUp(boolean isWarmup) {
        mode = isWarmup ? Mode.WARMUP : Mode.TIMING;
    }

    public void start(String benchmark) {
        start(benchmark, mode == Mode.WARMUP);
    }

    protected void start(String benchmark, boolean warmup) {
        if (benchmark.isEmpty())
            throw new IllegalArgumentException();
    }

    public void startWarmup(String benchmark) {
        start(benchmark, true);
    }

    public void stop(long duration) {
        stop(duration, mode == Mode.WARMUP);
    }

    public void stop(long duration, boolean warmup) {
    }

    public void stopWarmup(long duration) {
    }
}
