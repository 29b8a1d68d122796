// SPDX-License-Identifier: Apache-2.0
/** The files for this machine that the JAR file contains: the agent, and the command. It may change. */
package steptrace.packed;
