/* SPDX-License-Identifier: GPL-2.0 */
/* expect.h - what tests of libmrc expect of a call that fails. After kselftest_harness.h. */
#ifndef EXPECT_H
#define EXPECT_H

#include <errno.h>
#include <stddef.h>

#define LIMIT_S	300	/* of a test, in an emulated machine, busy with others */

#define MINUS(err, call) do {				\
		errno = 0;				\
		EXPECT_EQ(-1, call);			\
		EXPECT_EQ(err, errno);			\
	} while (0)
#define NONE(err, call) do {				\
		errno = 0;				\
		EXPECT_EQ(NULL, call);			\
		EXPECT_EQ(err, errno);			\
	} while (0)

#endif
