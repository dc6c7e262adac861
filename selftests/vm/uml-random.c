// SPDX-License-Identifier: GPL-2.0
/*
 * uml-random.c - preloaded into User-Mode Linux: the host's randomness is always the same.
 *
 * The kernel seeds its generator with it, once, at boot. In virtual time nothing else
 * differs from run to run, so addresses, keys and timers that begin at random are then
 * the same, too (runuml -d).
 */
#include <string.h>
#include <sys/types.h>

ssize_t getrandom(void *buf, size_t len, unsigned int flags);

ssize_t getrandom(void *buf, size_t len, unsigned int flags)
{
	(void)flags;
	memset(buf, 0x5a, len);
	return (ssize_t)len;
}
