// SPDX-License-Identifier: Apache-2.0
/** What {@link steptrace.Allocations} and extensions of test frameworks are made of; it may change. */
package steptrace.limits;
