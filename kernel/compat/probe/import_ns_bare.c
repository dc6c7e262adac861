// { "until": "6.12", "what": "MODULE_IMPORT_NS() takes a name, not a string", "used_by": "mem/mrc_dmabuf.c" }
/* SPDX-License-Identifier: GPL-2.0 */
#include <linux/module.h>

MODULE_IMPORT_NS(DMA_BUF);
