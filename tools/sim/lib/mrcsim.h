/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrcsim.h - libmrcsim: the simulator as another simulator's network.
 *
 * The five calls that a simulator of collectives wants of a network: send, receive, schedule, time,
 * finished. Messages go over the fabric of a scenario file with workload.kind = "calls". Callbacks
 * come in order of time, from mrcsim_run() alone, and may make any of the five calls.
 *
 * A message that is sent from a callback leaves at the next window of the simulation, at most one
 * link's delay later. One thread; not to be called from several. Results do not depend on the machine.
 */
#ifndef MRCSIM_H
#define MRCSIM_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct mrcsim;
typedef void (*mrcsim_fn)(void *arg);

/* Of a scenario file. NULL: error says why, in at most room bytes. */
struct mrcsim *mrcsim_open(const char *scenario, char *error, size_t room);
void mrcsim_close(struct mrcsim *s);

/*
 * done: the message is acknowledged whole. 0, or -EINVAL: no such host, the host itself, no byte or
 * more than 2 GiB.
 */
int mrcsim_send(struct mrcsim *s, uint32_t src, uint32_t dst, uint64_t bytes, uint64_t tag,
		mrcsim_fn done, void *arg);
/*
 * done: a message from src to dst with this tag has arrived whole; the first receive gets the first
 * that arrived. 0, or -EINVAL.
 */
int mrcsim_recv(struct mrcsim *s, uint32_t dst, uint32_t src, uint64_t tag, mrcsim_fn done, void *arg);
/* done: so much later. 0, or -EINVAL: more than ten thousand seconds. */
int mrcsim_schedule(struct mrcsim *s, uint64_t delay_ns, mrcsim_fn done, void *arg);
uint64_t mrcsim_time_ns(const struct mrcsim *s);
/* mrcsim_run() ends after this callback. */
void mrcsim_finished(struct mrcsim *s);

/*
 * Until somebody says finished, or nothing is left to happen: 0. 1: run.limit_us of the scenario has
 * passed. -1: mrcsim_error() says why.
 */
int mrcsim_run(struct mrcsim *s);
const char *mrcsim_error(const struct mrcsim *s);

#ifdef __cplusplus
}
#endif

#endif
