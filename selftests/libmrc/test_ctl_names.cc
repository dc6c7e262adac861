// SPDX-License-Identifier: GPL-2.0
// test_ctl_names.cc - which value names an EV: its bits alone, in operations, queries and events; what is on the
// wire is the kernel's.
#include <string>

#include "test_ctl.h"

namespace {

std::string hex(const uint8_t *val, size_t n)
{
    std::string s;
    char two[3];

    for (size_t i = 0; i < n; i++) {
        std::snprintf(two, sizeof(two), "%02x", val[i]);
        s += two;
    }
    return s;
}

mrc_ctl_ev named(std::initializer_list<uint8_t> bits)
{
    mrc_ctl_ev ev = {{}, 1};

    std::copy(bits.begin(), bits.end(), ev.val);
    return ev;
}

class ctl_names : public ctl {
  protected:
    // A format, ONLINE; a profile of it, OFFLINE, with these fields (or none) and @count EVs.
    void make(mrc_ctl_ev_fmt_mode mode, std::vector<mrc_ctl_ev_fmt_field> widths, mrc_ctl_ev_mode how,
              uint32_t count, std::vector<mrc_ctl_ev_field> fields)
    {
        mrc_ctl_ev_fmt_profile_attr f = {};
        f.profile_state = MRC_CTL_PROFILE_OFFLINE;
        f.ev_fmt_mode = mode;
        f.ev_fmt_op = {MRC_CTL_EV_FMT_OP_MODIFY_FIELDS, widths.data(), static_cast<int>(widths.size())};
        ASSERT_EQ(mrc_ctl_modify_ev_fmt_profile(ctx, id, &f, 1 | 4 | 8), 0);
        f.profile_state = MRC_CTL_PROFILE_ONLINE;
        ASSERT_EQ(mrc_ctl_modify_ev_fmt_profile(ctx, id, &f, 1), 0);
        mrc_ctl_ev_profile_attr e = {};
        e.profile_state = MRC_CTL_PROFILE_OFFLINE;
        e.ev_mode = how;
        e.ev_fmt_profile_id = id;
        e.ev_count = count;
        e.ev_min_active = 1;
        e.ev_event_mask = any_news;
        e.ev_fields_op = {MRC_CTL_EV_FIELDS_OP_MODIFY_FIELDS, fields.data(), static_cast<int>(fields.size())};
        ASSERT_EQ(mrc_ctl_modify_ev_profile(ctx, id, &e, 0x7d | (fields.empty() ? 0 : 0x100)), 0);
    }

    int replace(const mrc_ctl_ev &by)
    {
        mrc_ctl_ev_op_entry e = {MRC_CTL_EV_UNPOPULATED, by, MRC_CTL_EV_GOOD, 0};
        return operate(MRC_CTL_EV_OP_REPLACE_EV, e);
    }

    int operate(mrc_ctl_ev_op op, mrc_ctl_ev_op_entry e)
    {
        mrc_ctl_ev_profile_attr attr = {};
        attr.ev_op = {op, &e, 1};
        errno = 0;
        return mrc_ctl_modify_ev_profile(ctx, id, &attr, MRC_CTL_EV_PROFILE_EV_OP);
    }

    // What the array says, n bytes of each.
    std::vector<std::string> array(size_t n)
    {
        std::vector<mrc_ctl_ev_op_entry> got(64);
        mrc_ctl_ev_profile_attr attr = {};
        std::vector<std::string> out;
        attr.ev_op = {MRC_CTL_EV_OP_QUERY_EV_ARRAY, got.data(), 64};
        EXPECT_EQ(mrc_ctl_query_ev_profile(ctx, id, &attr, MRC_CTL_EV_PROFILE_EV_OP), 0);
        for (int i = 0; i < attr.ev_op.entry_count; i++)
            out.push_back(hex(got[static_cast<size_t>(i)].ev.val, n));
        return out;
    }

    std::string wire(size_t i, size_t n) { return hex(kernel.profiles[id].evs.at(i).val, n); }

    void peer_of_all()
    {
        kernel.peers[a] = {id, 0, 1, {}, 1, 1, 0, 0};
        for (const auto &ev : kernel.profiles[id].evs)
            kernel.peers[a].paths.push_back({ev, MRC_NL_EV_GOOD});
    }
};

const std::vector<mrc_ctl_ev_field> published = {{16, 0x100, 0, 15, 0xf}, {16, 0x200, 0, 15, 0xf}};

TEST_F(ctl_names, explicit_by_its_bits)
{
    make(MRC_CTL_EV_FMT_MODE_STEV, {{16}, {16}}, MRC_CTL_EV_MODE_EXP, 2, published);
    ASSERT_EQ(replace(named({0xa4})), 0);
    ASSERT_EQ(replace(named({0x11})), 0);
    EXPECT_EQ(replace(named({0x11, 0x80})), -1) << "more bits than the masks have";
    EXPECT_EQ(errno, EINVAL);
    EXPECT_EQ(array(4), (std::vector<std::string>{"a4000000", "11000000"}));
    ASSERT_EQ(ev_state(MRC_CTL_PROFILE_ONLINE), 0);
    EXPECT_EQ(wire(0, 4), "010a0204");
    EXPECT_EQ(wire(1, 4), "01010201");
    EXPECT_EQ(array(4), (std::vector<std::string>{"a4000000", "11000000"}));
    // A look from another context, which has made nothing: as the kernel tells it.
    mrc_context *own = mrc_create_context(&v, nullptr);
    std::swap(own, ctx);
    EXPECT_EQ(array(4), (std::vector<std::string>{"a4000000", "11000000"}));
    std::swap(own, ctx);
    EXPECT_EQ(mrc_destroy_context(own), 0);
}

TEST_F(ctl_names, operations_and_events_by_its_bits)
{
    mrc_ctl_ev_event event[4];

    make(MRC_CTL_EV_FMT_MODE_STEV, {{16}, {16}}, MRC_CTL_EV_MODE_EXP, 2, published);
    ASSERT_EQ(replace(named({0xa4})), 0);
    ASSERT_EQ(replace(named({0x11})), 0);
    ASSERT_EQ(ev_state(MRC_CTL_PROFILE_ONLINE), 0);
    peer_of_all();
    mrc_cq *cq = mrc_ctl_create_ev_event_cq(ctx, 4, nullptr, nullptr, 0);
    ASSERT_NE(cq, nullptr);
    queues.push_back(cq);
    becomes(a, 0, MRC_NL_EV_ASSUMED_BAD);
    ASSERT_EQ(mrc_ctl_poll_ev_event(cq, 4, event), 1);
    EXPECT_EQ(hex(event[0].ev.val, 4), "a4000000");
    EXPECT_EQ(event[0].state, MRC_CTL_EV_ASSUMED_BAD);

    EXPECT_EQ(operate(MRC_CTL_EV_OP_MODIFY_EV_STATE, {named({0x01, 0x0a, 0x02, 0x04}), {}, MRC_CTL_EV_DENIED, 0}), -1);
    EXPECT_EQ(errno, ENOENT) << "that is how it looks on the wire";
    ASSERT_EQ(operate(MRC_CTL_EV_OP_MODIFY_EV_STATE, {named({0x11}), {}, MRC_CTL_EV_DENIED, 0}), 0);
    EXPECT_EQ(kernel.peers[a].paths[1].state, MRC_NL_EV_DENIED);
    EXPECT_EQ(kernel.profiles[id].denied, (std::vector<bool>{false, true}));
    ASSERT_EQ(operate(MRC_CTL_EV_OP_REPLACE_EV, {named({0x11}), named({0x22}), MRC_CTL_EV_GOOD, 0}), 0);
    EXPECT_EQ(wire(1, 4), "01020202");
}

TEST_F(ctl_names, full_masks_are_the_identity)
{
    make(MRC_CTL_EV_FMT_MODE_STEV, {{16}, {16}}, MRC_CTL_EV_MODE_EXP, 1,
         {{16, 0, 0, 0xffff, 0xffff}, {16, 0, 0, 0xffff, 0xffff}});
    ASSERT_EQ(replace(named({0x12, 0x34, 0x56, 0x78})), 0);
    ASSERT_EQ(ev_state(MRC_CTL_PROFILE_ONLINE), 0);
    EXPECT_EQ(wire(0, 5), "1234567800");
    EXPECT_EQ(array(5), (std::vector<std::string>{"1234567800"}));
}

TEST_F(ctl_names, a_fixed_locator_is_no_part_of_the_name)
{
    make(MRC_CTL_EV_FMT_MODE_SRV6, {{32}, {16}, {16}}, MRC_CTL_EV_MODE_EXP, 1,
         {{32, 0xfcbb0000, 0, 0, 0}, {16, 0, 0, 0, 0xffff}, {16, 0, 0, 0, 0xffff}});
    ASSERT_EQ(replace(named({0x01, 0x02, 0x03, 0x04})), 0);
    ASSERT_EQ(ev_state(MRC_CTL_PROFILE_ONLINE), 0);
    EXPECT_EQ(wire(0, 9), "fcbb00000102030400");
    EXPECT_EQ(array(5), (std::vector<std::string>{"0102030400"}));
}

// STEV i << 16 | i from 0, no fields: a value of zero is one as any other.
TEST_F(ctl_names, values_from_0)
{
    make(MRC_CTL_EV_FMT_MODE_STEV, {{16}, {16}}, MRC_CTL_EV_MODE_EXP, 3, {});
    for (uint8_t i : {2, 1, 0}) // an entry that holds none yet has port 0, so it is no EV of zeros
        ASSERT_EQ(replace(named({0, i, 0, i})), 0);
    ASSERT_EQ(ev_state(MRC_CTL_PROFILE_ONLINE), 0);
    EXPECT_EQ(array(4), (std::vector<std::string>{"00020002", "00010001", "00000000"}));
    ASSERT_EQ(operate(MRC_CTL_EV_OP_MODIFY_EV_STATE, {named({}), {}, MRC_CTL_EV_DENIED, 0}), 0);
    EXPECT_EQ(kernel.profiles[id].denied, (std::vector<bool>{false, false, true}));
}

// Fields of 8, 4 and 4 bits, all from 0: known before the device makes them, and the same then.
TEST_F(ctl_names, generated_by_their_bits)
{
    make(MRC_CTL_EV_FMT_MODE_UDP, {{8}, {4}, {4}}, MRC_CTL_EV_MODE_GEN, 8,
         {{8, 0, 0, 1, 1}, {4, 0, 0, 1, 1}, {4, 0, 0, 1, 1}});
    const std::vector<std::string> all = {"00", "20", "40", "60", "80", "a0", "c0", "e0"};
    EXPECT_EQ(array(1), all);
    ASSERT_EQ(operate(MRC_CTL_EV_OP_MODIFY_EV_STATE, {named({0xa0}), {}, MRC_CTL_EV_DENIED, 0}), 0);
    ASSERT_EQ(ev_state(MRC_CTL_PROFILE_ONLINE), 0);
    EXPECT_EQ(array(1), all);
    EXPECT_EQ(wire(0, 2), "0000");
    EXPECT_EQ(wire(5, 2), "0101");
    EXPECT_TRUE(kernel.profiles[id].denied[5]);
    peer_of_all();
    ASSERT_EQ(operate(MRC_CTL_EV_OP_MODIFY_EV_STATE, {named({0x20}), {}, MRC_CTL_EV_DENIED, 0}), 0);
    EXPECT_EQ(kernel.peers[a].paths[1].state, MRC_NL_EV_DENIED);
}

TEST_F(ctl_names, port_masks_name_ports_by_their_numbers)
{
    mrc_ctl_device_attr attr;

    ASSERT_EQ(mrc_ctl_query_device(&v, &attr), 0);
    EXPECT_EQ(attr.phy_port_mask, 1u << 1);
    mrc_ctl_ep_req r = {};
    mrc_ctl_ep_rsp rsp;
    int got = 0;
    r.req_ev = fake_ev(1);
    r.ev_fmt_mode = MRC_CTL_EV_FMT_MODE_UDP;
    r.op.port_status_update.port_status = 0x1e;
    ASSERT_EQ(mrc_ctl_ep_batch_send_wait(ctx, 0, MRC_CTL_EP_OP_PORT_STATUS_UPDATE, &r, 1, 1000000, &rsp, &got), 0);
    EXPECT_EQ(kernel.told, (std::vector<uint32_t>{0xf})) << "on the wire bit 0 is port 1";
}

} // namespace
