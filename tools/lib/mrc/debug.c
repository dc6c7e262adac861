// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * debug.c - prints the reason of an error, because the interface can only return error numbers.
 *
 * Enabled by MRC_DEBUG in the environment; on stderr.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include "object.h"

int mrc_debug(int err, const char *format, ...)
{
	const char *wanted = getenv("MRC_DEBUG");
	char text[256];
	va_list args;

	if (!wanted || !*wanted || !strcmp(wanted, "0"))
		return err;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	fprintf(stderr, "libmrc: %s\n", text);
	return err;
}
