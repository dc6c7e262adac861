# SPDX-License-Identifier: GPL-2.0
#
# make            module for the kernels of KVERS whose headers are here, plug-in, daemon, tools
# make deps       install what is missing to build and test (Debian 12)
# make deps-build   only what is missing to build, for the kernel that runs here
# make check      all tests; ends with "N passed, N failed, N skipped"
# make check-full   all tests on all kernels, arm64 too, and check-debug beside them; CONTINUE=1: with what an
#                   interrupted run left
# make check-debug  the module under KASAN, lockdep and kmemleak, in User-Mode Linux
# make demo       a fabric, its failures and recoveries, in a virtual machine
# make shell      the same fabric, and a prompt in it; make shell <FILE runs commands
# make bench      measurements
# make bench-cpu  kernel time per packet beside rdma_rxe, and where it goes
# make bench-failover  how fast failures are stepped around, in virtual time
# make coverage   how much of the engine the user-space tests reach
# make mutants    faults put into the engine one by one: do the unit tests notice each?
# make soak       HOURS=1 of simulated clusters, seed after seed
# make figures    published figures, simulated, and their page; WORKERS=2: two runs at once
# make man        generated parts of mrcctl's manual pages, after a change of its table
# make docs       the handbook as a site, in build/site/html
# make deb        Debian packages, in build/deb
# make install    DESTDIR and PREFIX as usual; make uninstall takes it away
#
# V=1 shows the commands; DEBUG_INFO=1 keeps debug information and BTF of modules. KDIR_<series>=/path builds that
# module against another kernel build tree, and KVERS=<series> need not be one of ours then.

ifneq ($(words $(CURDIR)),1)
$(error "$(CURDIR)": neither make nor kbuild works in a path with blanks)
endif

KVERS ?= 6.1 6.12 7.2 7.3
# Other architectures, for "make check-full" and by name: KVERS=6.12-arm64 testing.
KVERS_ARM64 := 6.12-arm64 6.12-arm64-16k
PREFIX ?= /usr
INSTALL_STRIP ?= -s
HOURS ?= 1
BUILD := $(CURDIR)/build
VM := selftests/vm

# Folders with a Makefile of their own: what is installed, and what tests need.
SUBDIRS := tools/lib/ibverbs tools/lib/mrc daemon tools/mrcctl
TESTDIRS := tools/sim selftests/verbs selftests/libmrc tools/lib/mrc/examples selftests/mpi selftests/gloo \
	selftests/bench selftests/bench/failover

ifeq ($(V),)
MAKEFLAGS += -s --no-print-directory
endif

export KVERS PREFIX DESTDIR INSTALL_STRIP
# depmod, for whom "su" made root.
export PATH := $(PATH):/usr/sbin:/sbin

all: modules $(SUBDIRS)

# What tests, demo and benchmarks need besides.
testing: all $(TESTDIRS)

# ------------------------------------------------------------------ module
# One source, several kernels: kbuild writes beside its sources, so each kernel
# gets a copy of them, and only what changed is copied and rebuilt. The copies' times are
# their own, and a module's is that of its copy: an edit made while an older copy is compiled
# would else pass as old.

MODULE_SRC := $(shell find kernel uapi -type f 2>/dev/null)
QDISC_SRC := $(wildcard selftests/qdisc/*)
KUSER_SRC := $(wildcard selftests/kuser/*)
EXPORTER_SRC := $(wildcard selftests/exporter/*)
KBUILD_LEFTOVERS := --exclude='*.o' --exclude='*.ko' --exclude='*.mod' --exclude='*.mod.c' \
	--exclude='.*' --exclude='mrc_have.h*' --exclude=Module.symvers --exclude=modules.order

# kmake FOLDER SERIES: headers that lie in a newer Debian's root want the make and the compiler of that.
# Nobody reads their debug information but who asks for it (DEBUG_INFO=1): it makes 60 MB of 2, and takes time.
kmake = $(if $(findstring /roots/trixie/usr/src/,$(KDIR_$(2))),$(VM)/suite.sh make "$(KDIR_$(2))",$(MAKE) KDIR="$(KDIR_$(2))") -C $(1) \
	$(if $(DEBUG_INFO),,KCFLAGS="$(KCFLAGS) -g0" CONFIG_DEBUG_INFO_BTF_MODULES=)

define module_rules
ifeq ($$(origin KDIR_$(1)),undefined)
KDIR_$(1) := $$(shell $(VM)/kernels.sh --kdir $(1))
endif

$(BUILD)/$(1)/mrc.ko: $(MODULE_SRC) $(BUILD)/$(1)/kdir
	@echo "  MODULE  mrc.ko for $(1)"
	@touch $$@.began
	@rsync -rlpc --delete $(KBUILD_LEFTOVERS) kernel uapi $$(@D)/
	+$$(call kmake,$$(CURDIR)/build/$(1)/kernel,$(1))
	@cp $$(@D)/kernel/mrc.ko $$@ && touch -r $$@.began $$@

# A switch port, for tests only.
$(BUILD)/$(1)/mrc_port_qdisc.ko: $(QDISC_SRC) $(BUILD)/$(1)/kdir
	@touch $$@.began
	@rsync -rlpc --delete $(KBUILD_LEFTOVERS) selftests/qdisc $$(@D)/
	+$$(call kmake,$$(CURDIR)/build/$(1)/qdisc,$(1))
	@cp $$(@D)/qdisc/mrc_port_qdisc.ko $$@ && touch -r $$@.began $$@

# A user of RDMA in the kernel, likewise.
$(BUILD)/$(1)/mrc_kuser.ko: $(KUSER_SRC) $(BUILD)/$(1)/kdir
	@touch $$@.began
	@rsync -rlpc --delete $(KBUILD_LEFTOVERS) selftests/kuser $$(@D)/
	+$$(call kmake,$$(CURDIR)/build/$(1)/kuser,$(1))
	@cp $$(@D)/kuser/mrc_kuser.ko $$@ && touch -r $$@.began $$@

# An exporter of dma-bufs, likewise.
$(BUILD)/$(1)/mrc_exporter.ko: $(EXPORTER_SRC) $(BUILD)/$(1)/kdir
	@touch $$@.began
	@rsync -rlpc --delete $(KBUILD_LEFTOVERS) selftests/exporter $$(@D)/
	+$$(call kmake,$$(CURDIR)/build/$(1)/exporter,$(1))
	@cp $$(@D)/exporter/mrc_exporter.ko $$@ && touch -r $$@.began $$@

# Changes when the headers do, and everything is built anew then.
$(BUILD)/$(1)/kdir: FORCE
	@[ -n "$$(KDIR_$(1))" ] || { echo "no headers of kernel $(1): make deps, or KDIR_$(1)=..." >&2; exit 1; }
	@mkdir -p $$(@D)
	@echo "$$(KDIR_$(1))" | cmp -s - $$@ || { rm -rf $$(@D)/kernel $$(@D)/qdisc $$(@D)/kuser $$(@D)/exporter; echo "$$(KDIR_$(1))" >$$@; }
endef
$(foreach k,$(KVERS),$(eval $(call module_rules,$(k))))

# A host has the headers of one kernel, as a rule. "make check" has all.
HAVE := $(foreach k,$(KVERS),$(if $(KDIR_$(k)),$(k)))
MISS := $(filter-out $(HAVE),$(KVERS))
# Those in a root of another Debian are for tests.
INSTALLED := $(foreach k,$(HAVE),$(if $(findstring /roots/,$(KDIR_$(k))),,$(k)))

modules: $(HAVE:%=$(BUILD)/%/mrc.ko)
	@$(if $(HAVE),:,echo "no kernel headers of $(KVERS): make deps, or KDIR_$(firstword $(KVERS))=..." >&2; exit 1)
	@$(if $(MISS),echo "  SKIP    mrc.ko for $(MISS): no headers here",:)

# Modules of the tests: for the kernels that "make check" boots, and for all with "make check-full".
test_modules = $(foreach k,$(1),$(addprefix $(BUILD)/$(k)/,mrc_port_qdisc.ko mrc_kuser.ko mrc_exporter.ko))
testing: $(call test_modules,$(sort $(firstword $(HAVE)) $(lastword $(HAVE)))) \
	$(if $(filter $(KVERS_ARM64),$(HAVE)),tree-arm64)

# User space of another architecture, and the modules that its machine finds there.
tree-arm64: modules
	@echo "  MAKE    build/arm64"
	+@$(VM)/arm64.sh tree

# -------------------------------------------------------------- user space

$(SUBDIRS) $(TESTDIRS):
	@echo "  MAKE    $@"
	$(MAKE) -C $@

selftests/libmrc tools/lib/mrc/examples: tools/lib/mrc

# What programs and tests in an arm64 machine need: selftests/vm/arm64.sh tree.
user-space: $(SUBDIRS) selftests/verbs selftests/libmrc tools/lib/mrc/examples

# ----------------------------------------------------------------- running

deps:
	@$(VM)/deps.sh

deps-build:
	@$(VM)/deps.sh -b

# A second make, because what is found at its start changes with deps.
check: deps
	@$(MAKE) -j$$(nproc) testing
	@selftests/run.sh

# Also what "make check" runs on one kernel only, other architectures, what wants large packages, and what NCCL
# does with eight ranks.
check-full: deps
	@$(VM)/deps.sh -f
	@$(VM)/netmgr.sh get || echo "no NetworkManager: boot.sh goes without"
	@$(MAKE) -j$$(nproc) KVERS="$(KVERS) $(KVERS_ARM64)" full
full: testing $(call test_modules,$(HAVE))
	@[ ! -e "$$($(VM)/rdmacore.sh --root)/.complete" ] || $(VM)/rdmacore.sh plugin
	@MRC_HOSTS=8 selftests/run.sh -a $(if $(CONTINUE),-c) $(HAVE:%=-k %) -k uml

# The kernel is built the first time: eleven minutes of processor time.
check-debug: deps
	@$(MAKE) -j$$(nproc) $(SUBDIRS) selftests/verbs selftests/libmrc
	@selftests/run.sh -k uml

man: tools/mrcctl
	@$(MAKE) -s -C tools/mrcctl man

docs:
	@$(VM)/deps.sh -s
	@tools/site/stage.py . build/site/pages
	@mkdocs build -q --strict -f tools/site/mkdocs.yml
	@echo "build/site/html/index.html"

# From a seed that the clock gives, so that no two soaks are the same.
soak: deps
	@$(MAKE) tools/sim
	@start=$$(date +%s)00000; SEEDS=$$start..$$start SOAK=$$(($(HOURS) * 3600)) selftests/sim/run.sh

mutants: deps
	@selftests/mutants/run.sh

coverage: deps
	@selftests/coverage/coverage.sh

bench: deps
	@$(MAKE) -j$$(nproc) testing
	@selftests/bench.sh

# Both install and build what they need, and no more.
demo:
	@selftests/demo.sh

shell:
	@selftests/demo/shell.sh

# These two in User-Mode Linux, whose kernel is built the first time: seven minutes of processor time.
bench-cpu: deps
	@selftests/bench/cpu.sh $(if $(COMMIT),-c $(COMMIT))

bench-failover: deps
	@$(MAKE) tools/lib/ibverbs tools/mrcctl selftests/bench/failover
	@selftests/bench/failover.sh

WORKERS ?= 1
figures: tools/sim
	@$(BUILD)/sim/gcc/mrcsim reproduce --page --out Documentation/pictures/figures --workers $(WORKERS)

deb:
	@tools/deb.sh

# INSTALL_STRIP= keeps the debugging symbols.
install: all install-user
	@set -e; for k in $(INSTALLED); do \
		release=$$(sed -n 's/.*"\(.*\)"/\1/p' \
			"$$(cat $(BUILD)/$$k/kdir)/include/generated/utsrelease.h"); \
		ko=$(DESTDIR)/lib/modules/$$release/updates/mrc.ko; \
		install -D -m 644 $(BUILD)/$$k/mrc.ko $$ko; \
		$(if $(INSTALL_STRIP),strip --strip-debug $$ko;) \
		[ -n "$(DESTDIR)" ] || depmod -a $$release; \
	done
	@[ -n "$(DESTDIR)" ] || [ -e /lib/modules/$$(uname -r)/updates/mrc.ko ] || $(VM)/kernels.sh --advise

user: $(SUBDIRS)

# Without a module.
install-user: user
	@set -e; for dir in $(SUBDIRS); do $(MAKE) -C $$dir install; done

uninstall:
	@for ko in $(DESTDIR)/lib/modules/*/updates/mrc.ko; do \
		[ -e "$$ko" ] || continue; \
		rm -f "$$ko"; \
		release=$${ko#$(DESTDIR)/lib/modules/}; \
		[ -n "$(DESTDIR)" ] || depmod -a "$${release%%/*}"; \
	done
	@set -e; for dir in $(SUBDIRS); do $(MAKE) -C $$dir uninstall; done

clean:
	rm -rf $(BUILD) out
	@set -e; for dir in $(SUBDIRS) $(TESTDIRS); do $(MAKE) -C $$dir clean; done

FORCE:
.PHONY: all docs man testing modules tree-arm64 full user install-user deb deps deps-build check check-full check-debug coverage mutants soak demo shell bench bench-failover figures install \
	uninstall clean user-space FORCE $(SUBDIRS) $(TESTDIRS)
