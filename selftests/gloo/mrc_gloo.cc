// SPDX-License-Identifier: GPL-2.0
// mrc_gloo.cc - allreduce over Gloo's ibverbs transport, every element checked.
//
//   mrc_gloo DEV GID_INDEX FOLDER RANK SIZE SECONDS
//
// Ranks meet in FOLDER (Gloo's file store), which must be empty before. Each round reduces vectors of several
// lengths in two ways; rounds go on for so many seconds by rank 0's clock, which the others learn by what it sums.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <string>
#include <vector>

#include <gloo/allreduce_halving_doubling.h>
#include <gloo/allreduce_ring_chunked.h>
#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/file_store.h>
#include <gloo/rendezvous/prefix_store.h>
#include <gloo/transport/ibverbs/device.h>

namespace {

using clock_type = std::chrono::steady_clock;
using context_ptr = std::shared_ptr<gloo::rendezvous::Context>;

// Makes connections to all ranks; of each kind its own, because a pair of Gloo's has room for eight buffers, and hangs
// when it is asked for more.
class mesh {
public:
    mesh(char **argv)
        : device_(gloo::transport::ibverbs::CreateDevice({argv[1], 1, std::atoi(argv[2])})),
          store_(argv[3]), rank_(std::atoi(argv[4])), size_(std::atoi(argv[5]))
    {
    }

    context_ptr connect()
    {
        auto context = std::make_shared<gloo::rendezvous::Context>(rank_, size_);
        gloo::rendezvous::PrefixStore store(std::to_string(made_++), store_);

        context->connectFullMesh(store, device_);
        return context;
    }

    int rank() const { return rank_; }
    std::string name() const { return device_->str(); }

private:
    std::shared_ptr<gloo::transport::Device> device_;
    gloo::rendezvous::FileStore store_;
    int rank_, size_, made_ = 0;
};

// What rank R puts into element I of round N: small, so that floats sum exactly.
float element(unsigned long round, int rank, std::size_t i)
{
    return static_cast<float>((round * 31 + i * 7 + static_cast<unsigned>(rank) * 13) % 1009);
}

// One way to reduce vectors of one length, made once: it registers its memory.
class reduction {
public:
    reduction(const context_ptr &context, std::size_t count, bool ring)
        : size_(context->size), rank_(context->rank), data_(count)
    {
        std::vector<float *> ptrs{data_.data()};

        if (ring)
            how_ = std::make_unique<gloo::AllreduceRingChunked<float>>(context, ptrs, count);
        else
            how_ = std::make_unique<gloo::AllreduceHalvingDoubling<float>>(context, ptrs, count);
    }

    // The elements that are wrong.
    std::size_t run(unsigned long round)
    {
        std::size_t wrong = 0;

        for (std::size_t i = 0; i < data_.size(); i++)
            data_[i] = element(round, rank_, i);
        how_->run();
        for (std::size_t i = 0; i < data_.size(); i++) {
            float want = 0;

            for (int r = 0; r < size_; r++)
                want += element(round, r, i);
            wrong += data_[i] != want;
        }
        return wrong;
    }

    // Is any rank's VALUE not 0? For vectors of one element.
    bool any(float value)
    {
        data_[0] = value;
        how_->run();
        return data_[0] != 0;
    }

private:
    int size_, rank_;
    std::vector<float> data_;
    std::unique_ptr<gloo::Algorithm> how_;
};

// Gloo aborts where a buffer is destroyed before the completion of its last send was polled, and offers no way to
// wait for that (pytorch/gloo, pull request 78). So nothing is destroyed; the kernel takes it away.
[[noreturn]] void leave(int status)
{
    std::fflush(stdout);
    std::_Exit(status);
}

[[noreturn]] void run(char **argv)
{
    mesh net(argv);
    std::vector<std::unique_ptr<reduction>> all;

    for (std::size_t count : {std::size_t{1}, std::size_t{1000}, std::size_t{262144}})
        for (bool ring : {true, false})
            all.push_back(std::make_unique<reduction>(net.connect(), count, ring));
    reduction more(net.connect(), 1, true);

    const auto end = clock_type::now() + std::chrono::seconds(std::atoi(argv[6]));
    unsigned long rounds = 0;
    do {
        for (auto &r : all)
            if (std::size_t wrong = r->run(rounds)) {
                std::printf("FAIL: round %lu: %zu elements are wrong\n", rounds, wrong);
                leave(1);
            }
        rounds++;
    } while (more.any(!net.rank() && clock_type::now() < end));
    std::printf("PASS rank %d: %lu rounds over %s\n", net.rank(), rounds, net.name().c_str());
    leave(0);
}

} // namespace

int main(int argc, char **argv)
{
    if (argc != 7) {
        std::fputs("usage: mrc_gloo DEV GID_INDEX FOLDER RANK SIZE SECONDS\n", stderr);
        return 2;
    }
    try {
        run(argv);
    } catch (const std::exception &e) {
        std::printf("FAIL: %s\n", e.what());
        return 1;
    }
}
