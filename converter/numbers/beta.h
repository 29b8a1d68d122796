/* SPDX-License-Identifier: Apache-2.0 */
/* The beta distribution, whose quantiles are the bounds of binomial shares. */
#ifndef CONVERTER_NUMBERS_BETA_H
#define CONVERTER_NUMBERS_BETA_H

/* Returns the value that a beta variable is below with this probability; a, b > 0. */
double beta_quantile(double a, double b, double probability);

#endif
