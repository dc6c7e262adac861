// { "what": "MODULE_IMPORT_NS() takes a string, where import_ns_bare is not", "used_by": "probe.sh" }
/* SPDX-License-Identifier: GPL-2.0 */
#include <linux/module.h>

MODULE_IMPORT_NS("DMA_BUF");
