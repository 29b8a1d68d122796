# SPDX-License-Identifier: Apache-2.0
steptrace stats $data/closed.txt
