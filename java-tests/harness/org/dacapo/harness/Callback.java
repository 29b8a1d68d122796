// SPDX-License-Identifier: Apache-2.0
package org.dacapo.harness;

/** The methods that the harness of DaCapo calls around an iteration. */
public class Callback {
    public void start(String benchmark) {
        if (benchmark.isEmpty())
            throw new IllegalArgumentException();
    }

    public void startWarmup(String benchmark) {
    }

    public void stop(long duration) {
    }

    public void stopWarmup(long duration) {
    }
}
