// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * verbs.c - see verbs.h. Symbols are looked up in the handle of libibverbs.so.1 and by version, so
 * neither the load order nor old versions of a call matter.
 */
#include <dlfcn.h>
#include <stddef.h>
#include <string.h>
#include "object.h"

static const struct {
	const char *name, *version;
	size_t at;
} calls[] = {
#define CALL(name, version) { "ibv_" #name, version, offsetof(struct mrc_verbs, name) },
	MRC_VERBS_CALLS(CALL)
#undef CALL
};

int mrc_verbs_load(struct mrc_verbs *verbs, const struct ibv_context *v)
{
	void *lib = dlopen("libibverbs.so.1", RTLD_LAZY | RTLD_LOCAL), *call;
	int err = 0;
	size_t i;

	if (!lib)
		return mrc_debug(EOPNOTSUPP, "mrc_create_context: %s", dlerror());
	for (i = 0; !err && i < sizeof(calls) / sizeof(*calls); i++) {
		call = dlvsym(lib, calls[i].name, calls[i].version);
		if (!call)
			err = mrc_debug(EOPNOTSUPP, "mrc_create_context: libibverbs.so.1 has no %s of %s",
					calls[i].name, calls[i].version);
		memcpy((char *)verbs + calls[i].at, &call, sizeof(call));
	}
	dlclose(lib);		/* the code that opened @v keeps the library loaded */
	verbs->poll_cq = v->ops.poll_cq;
	verbs->req_notify_cq = v->ops.req_notify_cq;
	verbs->post_send = v->ops.post_send;
	verbs->post_recv = v->ops.post_recv;
	return err;
}
