// SPDX-License-Identifier: GPL-2.0
// pages.h - large blocks of zeroed memory, in huge pages if possible.
//
// Each window accesses the state of the whole cluster. With small pages, TLB misses and first-touch
// faults would cost more than the simulation.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <new>
#include <vector>

namespace sim {

inline constexpr size_t huge_page = 2 << 20;

class pages {
public:
    pages() = default;
    pages(const pages &) = delete;
    pages &operator=(const pages &) = delete;

    ~pages()
    {
        for (auto &[p, n] : maps_)
            munmap(p, n);
    }

    void *map(size_t bytes)
    {
        size_t n = (bytes + huge_page - 1) & ~(huge_page - 1);
        void *p = mmap(nullptr, n + huge_page, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

        if (p == MAP_FAILED)
            throw std::bad_alloc();
        maps_.push_back({p, n + huge_page});
        size_t at = (reinterpret_cast<size_t>(p) + huge_page - 1) & ~(huge_page - 1);
        p = reinterpret_cast<void *>(at);
        madvise(p, n, MADV_HUGEPAGE);
        return p;
    }

private:
    struct mapping {
        void *p;
        size_t n;
    };
    std::vector<mapping> maps_;
};

} // namespace sim
