// SPDX-License-Identifier: GPL-2.0
// test_app_errors.cc - errors of the application half that need no kernel, and that a machine with a device
// has no way to: errors.txt has the others.
#include "test_ctl.h"

namespace {

TEST_F(ctl, device_of_another_kind_has_no_context)
{
    kernel.is_ours = false;
    errno = 0;
    EXPECT_EQ(mrc_create_context(&v, nullptr), nullptr);
    EXPECT_EQ(errno, EOPNOTSUPP);
}

TEST_F(ctl, there_is_an_end_to_hints)
{
    mrc_qp_hint_init_attr init = {};
    std::vector<mrc_qp_hint *> hints;

    for (int i = 0; i < 65536; i++)
        hints.push_back(mrc_create_qp_hint(ctx, &init));
    EXPECT_NE(hints.back(), nullptr);
    errno = 0;
    EXPECT_EQ(mrc_create_qp_hint(ctx, &init), nullptr);
    EXPECT_EQ(errno, ENOSPC);
    for (mrc_qp_hint *hint : hints)
        EXPECT_EQ(mrc_destroy_qp_hint(hint), 0);
}

} // namespace
