// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// profile_text.h - prints profiles as arguments of `mrcctl profile set`.
#pragma once

#include <string>

#include "profile.h"

namespace mrcfab {

// ADDR, or ADDR/LEN of a prefix.
std::string dst_text(const ProfileKey &key);
// "id ID dst ... ev PORT ADDR ..." or "... gen PORT field ... copy ..."
std::string profile_text(const Profile &profile);

}   // namespace mrcfab
