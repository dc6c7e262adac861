// SPDX-License-Identifier: GPL-2.0
// replay.cc - main() of a fuzz target without libFuzzer: each argument is one input.
#include "bytes.h"

#include <fstream>
#include <iterator>

extern "C" int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        std::ifstream f(argv[i], std::ios::binary);
        std::vector<char> b{std::istreambuf_iterator<char>(f), {}};

        if (!f)
            DIE("cannot read %s", argv[i]);
        LLVMFuzzerTestOneInput(reinterpret_cast<const u8 *>(b.data()), b.size());
    }
    return 0;
}
