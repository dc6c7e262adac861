/* SPDX-License-Identifier: GPL-2.0 */
/*
 * kselftest_harness.h - the part of the kernel's header of that name that our C tests use, for
 * hosts without kernel sources (selftests/verbs/Makefile). Macros and TAP output are the same.
 * Variants, filters and the rest are missing.
 *
 * Each test runs in its own process: its leftovers end with it, and a crash or hang fails only
 * that test.
 */
#ifndef KSELFTEST_HARNESS_H
#define KSELFTEST_HARNESS_H

#include <setjmp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define TEST_TIMEOUT_DEFAULT	30	/* seconds */

enum { TH_PASS = 0, TH_FAIL = 1, TH_SKIP = 4 };

struct __test_metadata {
	const char *fixture, *name;
	void (*run)(struct __test_metadata *m);
	unsigned int timeout;
	struct __test_metadata *next;
	/* of the running test */
	int exit_code;
	bool trigger;
	jmp_buf bail;
};

static struct __test_metadata *th_first, **th_last = &th_first;

static inline void th_register(struct __test_metadata *m)
{
	*th_last = m;
	th_last = &m->next;
}

/* After a handler in braces, which is run when the expectation was not met. */
static inline bool th_failed(struct __test_metadata *m, bool assert)
{
	m->exit_code = TH_FAIL;
	if (assert)
		longjmp(m->bail, 1);
	return false;
}

#define TH_LOG(fmt, ...) \
	fprintf(stderr, "# %s:%d:%s:" fmt "\n", __FILE__, __LINE__, _metadata->name, \
		##__VA_ARGS__)

#define SKIP(statement, fmt, ...) do {						\
	printf("#      SKIP      " fmt "\n", ##__VA_ARGS__);			\
	_metadata->exit_code = TH_SKIP;						\
	statement;								\
} while (0)

#define TH_HANDLER(assert) \
	for (; _metadata->trigger; _metadata->trigger = th_failed(_metadata, assert))

#define TH_EXPECT(expected, seen, op, assert)					\
	do {									\
		__typeof__(expected) th_exp = (expected);			\
		__typeof__(seen) th_seen = (seen);				\
										\
		if (!(th_exp op th_seen)) {					\
			_metadata->trigger = true;				\
			TH_LOG("Expected %s (%lld) %s %s (%lld)", #expected,	\
			       (long long)(intptr_t)th_exp, #op, #seen,		\
			       (long long)(intptr_t)th_seen);			\
		}								\
	} while (0);								\
	TH_HANDLER(assert)

#define TH_EXPECT_STR(expected, seen, op, assert)				\
	do {									\
		const char *th_exp = (expected), *th_seen = (seen);		\
										\
		if (!(strcmp(th_exp, th_seen) op 0)) {				\
			_metadata->trigger = true;				\
			TH_LOG("Expected '%s' %s '%s'", th_exp, #op, th_seen);	\
		}								\
	} while (0);								\
	TH_HANDLER(assert)

#define ASSERT_EQ(expected, seen)	TH_EXPECT(expected, seen, ==, true)
#define ASSERT_NE(expected, seen)	TH_EXPECT(expected, seen, !=, true)
#define ASSERT_LT(expected, seen)	TH_EXPECT(expected, seen, <, true)
#define ASSERT_LE(expected, seen)	TH_EXPECT(expected, seen, <=, true)
#define ASSERT_GT(expected, seen)	TH_EXPECT(expected, seen, >, true)
#define ASSERT_GE(expected, seen)	TH_EXPECT(expected, seen, >=, true)
#define ASSERT_TRUE(seen)		TH_EXPECT(0, (seen), !=, true)
#define ASSERT_FALSE(seen)		TH_EXPECT(0, (seen), ==, true)
#define ASSERT_STREQ(expected, seen)	TH_EXPECT_STR(expected, seen, ==, true)
#define ASSERT_STRNE(expected, seen)	TH_EXPECT_STR(expected, seen, !=, true)
#define EXPECT_EQ(expected, seen)	TH_EXPECT(expected, seen, ==, false)
#define EXPECT_NE(expected, seen)	TH_EXPECT(expected, seen, !=, false)
#define EXPECT_LT(expected, seen)	TH_EXPECT(expected, seen, <, false)
#define EXPECT_LE(expected, seen)	TH_EXPECT(expected, seen, <=, false)
#define EXPECT_GT(expected, seen)	TH_EXPECT(expected, seen, >, false)
#define EXPECT_GE(expected, seen)	TH_EXPECT(expected, seen, >=, false)
#define EXPECT_TRUE(seen)		TH_EXPECT(0, (seen), !=, false)
#define EXPECT_FALSE(seen)		TH_EXPECT(0, (seen), ==, false)
#define EXPECT_STREQ(expected, seen)	TH_EXPECT_STR(expected, seen, ==, false)
#define EXPECT_STRNE(expected, seen)	TH_EXPECT_STR(expected, seen, !=, false)

#define TH_REGISTER(of_fixture, test, seconds)					\
	static struct __test_metadata of_fixture##_##test##_object = {		\
		.fixture = #of_fixture, .name = #test,				\
		.run = of_fixture##_##test##_run, .timeout = seconds,		\
	};									\
	static void __attribute__((constructor)) of_fixture##_##test##_reg(void) \
	{									\
		th_register(&of_fixture##_##test##_object);			\
	}

#define TEST(test)								\
	static void global_##test(struct __test_metadata *_metadata);		\
	static void global_##test##_run(struct __test_metadata *_metadata)	\
	{									\
		if (!setjmp(_metadata->bail))					\
			global_##test(_metadata);				\
	}									\
	TH_REGISTER(global, test, TEST_TIMEOUT_DEFAULT)				\
	static void global_##test(struct __test_metadata __attribute__((unused)) *_metadata)

#define FIXTURE_DATA(fixture)	struct _test_data_##fixture
#define FIXTURE(fixture)	FIXTURE_DATA(fixture)
#define TH_ARGS(fixture)							\
	(struct __test_metadata __attribute__((unused)) *_metadata,		\
	 FIXTURE_DATA(fixture) __attribute__((unused)) *self)
#define FIXTURE_SETUP(fixture)		static void fixture##_setup TH_ARGS(fixture)
#define FIXTURE_TEARDOWN(fixture)	static void fixture##_teardown TH_ARGS(fixture)

/* A set-up that fails leaves nothing to tear down. */
#define TEST_F_TIMEOUT(fixture, test, seconds)					\
	static void fixture##_##test TH_ARGS(fixture);				\
	static void fixture##_##test##_run(struct __test_metadata *_metadata)	\
	{									\
		static FIXTURE_DATA(fixture) self;				\
										\
		if (setjmp(_metadata->bail))					\
			return;							\
		fixture##_setup(_metadata, &self);				\
		if (_metadata->exit_code)					\
			return;							\
		if (!setjmp(_metadata->bail))					\
			fixture##_##test(_metadata, &self);			\
		if (!setjmp(_metadata->bail))					\
			fixture##_teardown(_metadata, &self);			\
	}									\
	TH_REGISTER(fixture, test, seconds)					\
	static void fixture##_##test TH_ARGS(fixture)

#define TEST_F(fixture, test)	TEST_F_TIMEOUT(fixture, test, TEST_TIMEOUT_DEFAULT)

static inline int th_run(struct __test_metadata *m)
{
	int status;
	pid_t pid;

	printf("#  RUN           %s.%s ...\n", m->fixture, m->name);
	fflush(stdout);
	pid = fork();
	if (pid < 0)
		return TH_FAIL;
	if (!pid) {
		alarm(m->timeout);
		m->run(m);
		fflush(stdout);
		_exit(m->exit_code);
	}
	if (waitpid(pid, &status, 0) != pid)
		return TH_FAIL;
	if (WIFEXITED(status))
		return WEXITSTATUS(status);
	printf("# %s: ended by signal %d\n", m->name, WTERMSIG(status));
	return TH_FAIL;
}

static inline int test_harness_run(int argc, char **argv)
{
	unsigned int n = 0, count[3] = {};
	struct __test_metadata *m;
	int rc;

	(void)argc;
	(void)argv;
	for (m = th_first; m; m = m->next)
		n++;
	printf("TAP version 13\n1..%u\n", n);
	for (m = th_first, n = 1; m; m = m->next, n++) {
		rc = th_run(m);
		count[rc == TH_PASS ? 0 : rc == TH_SKIP ? 2 : 1]++;
		printf("# %13s  %s.%s\n", rc && rc != TH_SKIP ? "FAIL" : "OK", m->fixture, m->name);
		printf("%s %u %s.%s%s\n", rc && rc != TH_SKIP ? "not ok" : "ok", n, m->fixture,
		       m->name, rc == TH_SKIP ? " # SKIP" : "");
		fflush(stdout);
	}
	printf("# Totals: pass:%u fail:%u xfail:0 xpass:0 skip:%u error:0\n", count[0], count[1],
	       count[2]);
	return count[1] ? TH_FAIL : TH_PASS;
}

#define TEST_HARNESS_MAIN							\
	int main(int argc, char **argv)						\
	{									\
		return test_harness_run(argc, argv);				\
	}

#endif
