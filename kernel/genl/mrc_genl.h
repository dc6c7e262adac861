/* SPDX-License-Identifier: GPL-2.0 */
/* mrc_genl.h - the generic-netlink family "mrc" (uapi/linux/mrc.h). */
#ifndef MRC_GENL_H
#define MRC_GENL_H

int mrc_genl_init(void);
void mrc_genl_exit(void);

#endif
