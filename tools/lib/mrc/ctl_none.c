// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * ctl_none.c - calls of the controller half that are not done yet: EOPNOTSUPP, nothing changed, and no
 * capability says otherwise. Documentation/libmrc.md says which these are.
 */
#include "object.h"

static int none(const struct mrc_context *ctx, const char *call)
{
	if (!MRC_IS(ctx, CONTEXT))
		return mrc_minus(EINVAL);
	return mrc_minus(mrc_say(EOPNOTSUPP, "%s is not done yet", call));
}

int mrc_ctl_ep_batch_send_wait(struct mrc_context *ctx, uint8_t req_tc,
			       enum mrc_ctl_ep_op_type op_type, struct mrc_ctl_ep_req *req,
			       int num_req, uint32_t rsp_timeout, struct mrc_ctl_ep_rsp *rsp,
			       int *num_rsp)
{
	(void)req_tc;
	(void)op_type;
	(void)req;
	(void)num_req;
	(void)rsp_timeout;
	(void)rsp;
	(void)num_rsp;
	return none(ctx, "mrc_ctl_ep_batch_send_wait");
}
