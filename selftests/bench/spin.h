// SPDX-License-Identifier: GPL-2.0
// spin.h - a lock that spins, as the kernel's; gives the CPU away now and then, for the owner may have lost its own.
#pragma once

#include <atomic>
#include <thread>

namespace bench {

class alignas(64) spin {
public:
    // True: somebody else had it.
    bool take()
    {
        if (!held_.exchange(true, std::memory_order_acquire))
            return false;
        for (unsigned int n = 0; held_.exchange(true, std::memory_order_acquire); n++)
            if (n % 4096 == 4095)
                std::this_thread::yield();
        return true;
    }
    void drop() { held_.store(false, std::memory_order_release); }

private:
    std::atomic<bool> held_ = false;
};

} // namespace bench
