/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * example.h - open the device, and parse numbers of the command line. Both print a message and exit
 * if that fails.
 */
#ifndef EXAMPLE_H
#define EXAMPLE_H

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <infiniband/verbs.h>

/* @name: as `rdma dev` lists it; NULL: the first device. The caller closes it. */
static inline struct ibv_context *open_device(const char *name)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *context = NULL;
	int i;

	for (i = 0; list && list[i] && !context; i++)
		if (!name || !strcmp(ibv_get_device_name(list[i]), name))
			context = ibv_open_device(list[i]);
	if (list)
		ibv_free_device_list(list);
	if (!context) {
		fprintf(stderr, "%s: no RDMA device %s\n", program_invocation_short_name,
			name ? name : "at all");
		exit(1);
	}
	return context;
}

static inline uint32_t number(const char *text, uint32_t min, uint32_t max)
{
	char *end;
	unsigned long n = strtoul(text, &end, 0);

	if (end == text || *end || n < min || n > max) {
		fprintf(stderr, "%s: %s: a number from %u to %u\n", program_invocation_short_name, text,
			min, max);
		exit(2);
	}
	return (uint32_t)n;
}

#endif
