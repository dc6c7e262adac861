// SPDX-License-Identifier: GPL-2.0
/*
 * mrc_ah_hoard.c - has all address handles that a device gives to programs, until it is killed.
 *
 *	mrc_ah_hoard DEV
 *
 * "N handles: WHY" on standard output says that there are no more.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>
#include "vcommon.h"

int main(int argc, char **argv)
{
	struct vc_opts opts = { .gid_index = -1 };
	struct ibv_ah_attr attr = { .is_global = 1, .port_num = 1 };
	struct vc_dev dev;
	int n = 0;

	if (argc != 2)
		vc_die("usage: mrc_ah_hoard DEV");
	opts.dev = argv[1];
	vc_open(&dev, &opts);
	attr.grh.dgid = dev.gid;
	attr.grh.sgid_index = (uint8_t)dev.gid_index;
	while (n < 2 * dev.attr.max_ah && ibv_create_ah(dev.pd, &attr))
		n++;
	printf("%d handles: %s\n", n, strerror(errno));
	fflush(stdout);
	pause();
	return VC_EXIT_OK;
}
