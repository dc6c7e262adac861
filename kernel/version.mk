# SPDX-License-Identifier: GPL-2.0
# The version of the module, the daemon, the tools and the packages, in one place. It lies here because the
# module's source is built without the rest of the project (DKMS).
MRC_VERSION := 0.1.0
