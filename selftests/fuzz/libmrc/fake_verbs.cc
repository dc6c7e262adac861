// SPDX-License-Identifier: GPL-2.0
// fake_verbs.cc - libibverbs, and the uverbs commands that libmrc gives itself: see world.h.
#include <fcntl.h>
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/rdma_user_ioctl_cmds.h>
#include <sys/epoll.h>

#include <cstdarg>
#include <cstring>

#include "world.h"

extern "C" {
#include "rdma/mrc-abi.h"
#include "verbs.h"
}

world *the_world;

namespace {

constexpr int the_fd = 4711;

int poll_cq(ibv_cq *cq, int n, ibv_wc *wc)
{
    world &w = *the_world;
    REQUIRE(w.cqs.contains(cq));
    if (w.says(8))
        return -1;
    int got = static_cast<int>(w.in.below(4));
    got = got < n ? got : n;
    if (got > 0)
        std::memset(wc, 0x33, sizeof(*wc) * static_cast<size_t>(got));
    return got;
}

int notify_cq(ibv_cq *cq, int)
{
    REQUIRE(the_world->cqs.contains(cq));
    return the_world->fails();
}

// Takes as many as the harness says.
template <class W> int post(W *wr, W **bad)
{
    world &w = *the_world;
    for (; wr; wr = wr->next) {
        if (w.posted == w.taken) {
            *bad = wr;
            return ENOMEM;
        }
        w.posted++;
    }
    return 0;
}

int post_send(ibv_qp *qp, ibv_send_wr *wr, ibv_send_wr **bad)
{
    REQUIRE(the_world->qps.contains(qp));
    for (auto *x = wr; x; x = x->next)
        REQUIRE(x->opcode == IBV_WR_RDMA_WRITE || x->opcode == IBV_WR_RDMA_WRITE_WITH_IMM);
    return post(wr, bad);
}

int post_recv(ibv_qp *qp, ibv_recv_wr *wr, ibv_recv_wr **bad)
{
    REQUIRE(the_world->qps.contains(qp));
    return post(wr, bad);
}

// ---- the commands ----

// One by ioctl(): its attributes, each of which there is once.
struct command {
    std::map<unsigned, ib_uverbs_attr *> attrs;

    explicit command(ib_uverbs_ioctl_hdr &hdr)
    {
        REQUIRE(hdr.length == sizeof(hdr) + hdr.num_attrs * sizeof(hdr.attrs[0]));
        REQUIRE(hdr.object_id == UVERBS_OBJECT_DEVICE && hdr.method_id == UVERBS_METHOD_INVOKE_WRITE);
        REQUIRE(hdr.driver_id == MRC_DRIVER_ID && !hdr.reserved1 && !hdr.reserved2);
        for (unsigned i = 0; i < hdr.num_attrs; i++) {
            ib_uverbs_attr &a = hdr.attrs[i];
            REQUIRE(a.flags == UVERBS_ATTR_F_MANDATORY && !a.attr_data.reserved);
            REQUIRE(attrs.emplace(a.attr_id, &a).second);
        }
    }

    // Takes one: what is as small as an address stands in its place, unless it is an answer's.
    template <class T> T &part(unsigned id)
    {
        REQUIRE(attrs.contains(id));
        ib_uverbs_attr *a = attrs[id];
        attrs.erase(id);
        REQUIRE(a->len == sizeof(T));
        bool answer = id == UVERBS_ATTR_CORE_OUT || id == UVERBS_ATTR_UHW_OUT;
        bool elsewhere = answer || sizeof(T) > sizeof(a->data);
        return *reinterpret_cast<T *>(elsewhere ? a->data : reinterpret_cast<uintptr_t>(&a->data));
    }
};

void query_device(command &cmd)
{
    auto &core = cmd.part<ib_uverbs_ex_query_device>(UVERBS_ATTR_CORE_IN);
    auto &limits = cmd.part<mrc_uquery_device_resp>(UVERBS_ATTR_UHW_OUT);

    REQUIRE(!core.comp_mask && !core.reserved);
    std::memset(&cmd.part<ib_uverbs_ex_query_device_resp>(UVERBS_ATTR_CORE_OUT), 0x55,
                sizeof(ib_uverbs_ex_query_device_resp));
    limits = {};
    limits.cap = MRC_UDEV_DYN_MPR;
    limits.max_wimm = limits.max_wimm_dest = 128;
    limits.max_mpr = 8;
    limits.timeout = 14;
    limits.linear_cnt = 7;
    limits.exp_cnt = 6;
}

void modify_qp(command &cmd)
{
    auto &core = cmd.part<ib_uverbs_ex_modify_qp>(UVERBS_ATTR_CORE_IN);
    auto &drv = cmd.part<mrc_umodify_qp>(UVERBS_ATTR_UHW_IN);
    bool known = false;

    cmd.part<ib_uverbs_ex_modify_qp_resp>(UVERBS_ATTR_CORE_OUT) = {};
    for (ibv_qp *qp : the_world->qps)
        known |= qp->handle == core.base.qp_handle;
    REQUIRE(known && core.base.attr_mask & IBV_QP_STATE);
    REQUIRE(!(core.base.attr_mask & IBV_QP_PORT) || core.base.port_num == 1);
    // As uapi/rdma/mrc-abi.h says: what is known, with values that can be.
    REQUIRE(!(drv.comp_mask & ~0x37fu));
    REQUIRE(drv.timeout <= 24 && drv.linear_cnt <= 7 && drv.exp_cnt <= 25 && !(drv.cap & ~7u));
    REQUIRE(drv.mpr && drv.mpr_dest && drv.wimm && drv.wimm_dest);
}

} // namespace

world::world(bytes &b) : in(b)
{
    the_world = this;
    honest = !in.one_in(4);
    std::strcpy(dev.name, "mrc0");
    std::strcpy(dev.ibdev_path, "/sys/class/infiniband/mrc0");
    for (int i = 0; i < 2; i++) {
        ctx[i].device = &dev;
        ctx[i].cmd_fd = the_fd;
        ctx[i].ops.poll_cq = poll_cq;
        ctx[i].ops.req_notify_cq = notify_cq;
        ctx[i].ops.post_send = post_send;
        ctx[i].ops.post_recv = post_recv;
        pd[i].context = &ctx[i];
    }
}

world::~world()
{
    REQUIRE(qps.empty() && cqs.empty() && channels.empty() && !events_out);
    the_world = nullptr;
}

int world::fails()
{
    static const int codes[] = {EINVAL, EBUSY, E2BIG, ENOENT, EPERM, EOPNOTSUPP,
                                ENOMEM, EIO, EACCES, ERANGE, ETIMEDOUT, ENODEV};
    return says(8) ? in.pick(codes) : 0;
}

extern "C" {

ibv_comp_channel *ibv_create_comp_channel(ibv_context *context)
{
    if ((errno = the_world->fails()))
        return nullptr;
    auto *ch = new ibv_comp_channel{context, static_cast<int>(the_world->next++), 0};
    the_world->channels.insert(ch);
    return ch;
}

int ibv_destroy_comp_channel(ibv_comp_channel *ch)
{
    REQUIRE(the_world->channels.contains(ch));
    if (ch->refcnt)
        return EBUSY;
    the_world->channels.erase(ch);
    delete ch;
    return 0;
}

ibv_cq *ibv_create_cq(ibv_context *context, int cqe, void *cq_context, ibv_comp_channel *ch, int)
{
    if ((errno = cqe < 1 ? EINVAL : the_world->fails()))
        return nullptr;
    auto *cq = new ibv_cq{};
    cq->context = context;
    cq->cq_context = cq_context;
    cq->channel = ch;
    if (ch) {
        REQUIRE(the_world->channels.contains(ch) && ch->context == context);
        ch->refcnt++;
    }
    the_world->cqs.insert(cq);
    return cq;
}

int ibv_destroy_cq(ibv_cq *cq)
{
    REQUIRE(the_world->cqs.contains(cq));
    if (the_world->cq_users[cq])
        return EBUSY;
    if (cq->channel)
        cq->channel->refcnt--;
    the_world->cqs.erase(cq);
    the_world->cq_users.erase(cq);
    delete cq;
    return 0;
}

int ibv_get_cq_event(ibv_comp_channel *ch, ibv_cq **cq, void **cq_context)
{
    REQUIRE(the_world->channels.contains(ch));
    for (ibv_cq *c : the_world->cqs)
        if (c->channel == ch && the_world->in.below(2)) {
            *cq = c;
            *cq_context = c->cq_context;
            the_world->events_out++;
            return 0;
        }
    errno = EAGAIN;
    return -1;
}

void ibv_ack_cq_events(ibv_cq *cq, unsigned int n)
{
    REQUIRE(the_world->cqs.contains(cq));
    the_world->events_out -= n;
}

ibv_qp *ibv_create_qp(ibv_pd *pd, ibv_qp_init_attr *init)
{
    REQUIRE(init->qp_type == IBV_QPT_RC && !init->srq);
    REQUIRE(the_world->cqs.contains(init->send_cq) && the_world->cqs.contains(init->recv_cq));
    REQUIRE(init->send_cq->context == pd->context && init->recv_cq->context == pd->context);
    if ((errno = the_world->fails()))
        return nullptr;
    auto *qp = new ibv_qp{};
    qp->context = pd->context;
    qp->send_cq = init->send_cq;
    qp->recv_cq = init->recv_cq;
    qp->handle = qp->qp_num = the_world->next++;
    qp->state = IBV_QPS_RESET;
    the_world->cq_users[qp->send_cq]++;
    the_world->cq_users[qp->recv_cq]++;
    the_world->qps.insert(qp);
    return qp;
}

int ibv_destroy_qp(ibv_qp *qp)
{
    REQUIRE(the_world->qps.contains(qp));
    if (int err = the_world->fails())
        return err;
    the_world->cq_users[qp->send_cq]--;
    the_world->cq_users[qp->recv_cq]--;
    the_world->qps.erase(qp);
    delete qp;
    return 0;
}

int ibv_modify_qp(ibv_qp *qp, ibv_qp_attr *attr, int mask)
{
    REQUIRE(the_world->qps.contains(qp) && mask == IBV_QP_STATE);
    REQUIRE(attr->qp_state == IBV_QPS_ERR || attr->qp_state == IBV_QPS_RESET);
    if (int err = the_world->fails())
        return err;
    qp->state = attr->qp_state;
    return 0;
}

int ibv_query_qp(ibv_qp *qp, ibv_qp_attr *attr, int, ibv_qp_init_attr *)
{
    REQUIRE(the_world->qps.contains(qp));
    if (int err = the_world->fails())
        return err;
    std::memset(attr, 0x44, sizeof(*attr));
    attr->qp_state = qp->state;
    return 0;
}

int ibv_get_async_event(ibv_context *context, ibv_async_event *event)
{
    world &w = *the_world;
    REQUIRE(context == &w.ctx[0] || context == &w.ctx[1]);
    // Of objects that nobody made through mrc.h, too.
    static ibv_qp other_qp;
    static ibv_cq other_cq;
    u32 which = w.in.below(6);
    *event = {};
    switch (which) {
    case 0:
        errno = EAGAIN;
        return -1;
    case 1:
        event->event_type = IBV_EVENT_CQ_ERR;
        event->element.cq = w.cqs.empty() || w.in.below(2) ? &other_cq : *w.cqs.begin();
        break;
    case 2:
    case 3:
        event->event_type = which == 2 ? IBV_EVENT_QP_FATAL : IBV_EVENT_COMM_EST;
        event->element.qp = w.qps.empty() || w.in.below(2) ? &other_qp : *w.qps.begin();
        break;
    case 4:
        event->event_type = IBV_EVENT_SRQ_LIMIT_REACHED;
        break;
    default:
        event->event_type = IBV_EVENT_PORT_ERR;
        event->element.port_num = 1;
    }
    w.events_out++;
    return 0;
}

void ibv_ack_async_event(ibv_async_event *)
{
    REQUIRE(the_world->events_out);
    the_world->events_out--;
}

// In the place of verbs.c.
int mrc_verbs_load(mrc_verbs *to, const ibv_context *v)
{
    if (int err = the_world->fails())
        return err;
#define CALL(name, version) to->name = ibv_##name;
    MRC_VERBS_CALLS(CALL)
#undef CALL
    to->poll_cq = v->ops.poll_cq;
    to->req_notify_cq = v->ops.req_notify_cq;
    to->post_send = v->ops.post_send;
    to->post_recv = v->ops.post_recv;
    return 0;
}

// ---- uverbs.c's system calls, and debug.c's voice: renamed when those are compiled ----

int fuzz_open(const char *path, int, ...)
{
    REQUIRE(std::string(path) == std::string(the_world->dev.ibdev_path) + "/mrc_abi");
    return the_world->ours ? the_fd + 1 : -1;
}

ssize_t fuzz_read(int fd, void *to, size_t room)
{
    REQUIRE(fd == the_fd + 1);
    std::string text = std::to_string(MRC_UVERBS_ABI_VERSION) + "\n";
    REQUIRE(text.size() < room);
    std::memcpy(to, text.data(), text.size());
    return static_cast<ssize_t>(text.size());
}

int fuzz_close(int fd)
{
    REQUIRE(the_world->polled.erase(fd) || fd == the_fd + 1);
    return 0;
}

static int refuse(int err)
{
    errno = err;
    return -1;
}

// ---- epoll, as far as channels use it ----

int fuzz_epoll_create1(int)
{
    if (int err = the_world->fails())
        return refuse(err);
    int fd = static_cast<int>(100000 + the_world->next++);
    the_world->polled[fd] = {};
    return fd;
}

int fuzz_epoll_ctl(int fd, int op, int file, epoll_event *e)
{
    REQUIRE(the_world->polled.contains(fd));
    auto &files = the_world->polled[fd];
    if (op == EPOLL_CTL_DEL) {
        REQUIRE(files.erase(file));
        return 0;
    }
    if (int err = the_world->fails())
        return refuse(err);
    void *word = e->data.ptr; // the struct is packed
    REQUIRE(op == EPOLL_CTL_ADD && files.emplace(file, word).second);
    return 0;
}

// Who has no time-out is interrupted instead.
int fuzz_epoll_wait(int fd, epoll_event *e, int, int timeout)
{
    world &w = *the_world;
    REQUIRE(w.polled.contains(fd));
    auto &files = w.polled[fd];
    if (!w.says(2) || files.empty() || ++w.looks % 4 == 0)
        return timeout ? refuse(EINTR) : 0;
    e->data.ptr = std::next(files.begin(), w.in.below(static_cast<u32>(files.size())))->second;
    return 1;
}

int fuzz_fcntl(int, int cmd, ...)
{
    if (int err = the_world->fails())
        return refuse(err);
    return cmd == F_GETFL && the_world->says(2) ? O_NONBLOCK : 0;
}

// As ib_uverbs_ioctl(), of UVERBS_METHOD_INVOKE_WRITE.
int fuzz_ioctl(int fd, unsigned long request, ...)
{
    va_list args;

    va_start(args, request);
    auto *hdr = va_arg(args, ib_uverbs_ioctl_hdr *);
    va_end(args);
    REQUIRE(fd == the_fd && request == RDMA_VERBS_IOCTL);
    command cmd(*hdr);
    auto which = cmd.part<uint64_t>(UVERBS_ATTR_WRITE_CMD);
    if (int err = the_world->fails())
        return refuse(err);
    if (which == (IB_USER_VERBS_CMD_FLAG_EXTENDED | IB_USER_VERBS_EX_CMD_QUERY_DEVICE)) {
        query_device(cmd);
    } else {
        REQUIRE(which == (IB_USER_VERBS_CMD_FLAG_EXTENDED | IB_USER_VERBS_EX_CMD_MODIFY_QP));
        modify_qp(cmd);
    }
    REQUIRE(cmd.attrs.empty());
    return 0;
}

int fuzz_fprintf(FILE *, const char *format, ...)
{
    char text[512];
    va_list args;

    va_start(args, format);
    int n = std::vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    REQUIRE(n > 9 && n < 400);
    return n;
}

} // extern "C"
