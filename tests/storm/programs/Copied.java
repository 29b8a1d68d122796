// SPDX-License-Identifier: Apache-2.0
// What all copies of Copied0000 can do.
package storm;

public interface Copied {
    long work(int n);
}
