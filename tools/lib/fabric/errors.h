// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// errors.h - the errors of a file, so that one that is wrong in three places is corrected once.
//
//	Errors errors;
//	errors.of([&] { read_this(); });	// the first error of this part is kept,
//	errors.of([&] { read_that(); });	// and the next part is read
//	errors.raise();				// nothing that follows makes sense with a wrong value
#pragma once

#include <string>
#include <vector>

#include "fabric.h"

namespace mrcfab {

class Errors {
public:
    // False: @read threw a FabricError, which is kept.
    template <typename Read> bool of(Read &&read)
    {
        try {
            read();
            return true;
        } catch (const FabricError &e) {
            add(e.what());
            return false;
        }
    }

    bool none() const { return count_ == 0; }

    // Throws all that were kept as one FabricError, a line each.
    void raise() const;

private:
    void add(const std::string &text);

    std::size_t count_ = 0;
    std::string lines_;
};

}   // namespace mrcfab
