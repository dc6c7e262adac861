// SPDX-License-Identifier: GPL-2.0
// inbox.h - packets on their way to a node, by the window in which they arrive.
//
// A lane is what one thread sends to one node in one window: a list of chunks. Only
// the sending thread appends, and only the node's thread takes, after the barrier
// between windows. Chunks come from the sender's pool and go to the taker's.
#pragma once

#include "packet.h"
#include "pages.h"

namespace sim {

struct chunk {
    static constexpr u32 room = 21; // 1 KiB in all

    chunk *next;
    u64 unused;
    packet p[room];
};

class chunk_pool {
public:
    chunk *get()
    {
        if (!free_)
            grow();
        chunk *c = free_;
        free_ = c->next;
        c->next = nullptr;
        return c;
    }

    void put(chunk *c)
    {
        c->next = free_;
        free_ = c;
    }

private:
    void grow()
    {
        chunk *c = static_cast<chunk *>(store_.map(huge_page));

        for (size_t i = huge_page / sizeof(chunk); i-- > 0;)
            put(c + i);
    }

    chunk *free_ = nullptr;
    pages store_;
};

struct lane {
    chunk *head = nullptr;
    packet *at = nullptr, *stop = nullptr; // room left in the last chunk

    packet &add(chunk_pool &pool)
    {
        if (at == stop) {
            chunk *c = pool.get();

            if (stop) // just behind the last packet of the last chunk
                reinterpret_cast<chunk *>(stop)[-1].next = c;
            else
                head = c;
            at = c->p;
            stop = c->p + chunk::room;
        }
        return *at++;
    }

    // Packets of chunk c, one of the list.
    const packet *end_of(const chunk *c) const { return c->next ? c->p + chunk::room : at; }

    void give_back(chunk_pool &pool)
    {
        for (chunk *c = head, *next; c; c = next) {
            next = c->next;
            pool.put(c);
        }
        head = nullptr;
        at = stop = nullptr;
    }
};
static_assert(sizeof(chunk) == 1024);

} // namespace sim
