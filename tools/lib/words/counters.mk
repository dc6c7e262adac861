# SPDX-License-Identifier: GPL-2.0
# $(WORDS_OBJ)/counters.o, where TOP, WORDS_OBJ and the flags of C++ are set.

QP_STATS := $(TOP)/kernel/engine/base/mrc_stats.h
DEV_STATS := $(TOP)/kernel/core/mrc_dev_stats.h
COUNTER = s/^\tX(\([a-z0-9_]*\), \(".*"\)).*/{"\1", \2, $(1)},/p

$(WORDS_OBJ)/counters.inc: $(QP_STATS) $(DEV_STATS)
	@mkdir -p $(@D)
	sed -n '$(call COUNTER,true)' $(QP_STATS) >$@
	sed -n '$(call COUNTER,false)' $(DEV_STATS) >>$@

$(WORDS_OBJ)/counters.o: $(TOP)/tools/lib/words/counters.cc $(WORDS_OBJ)/counters.inc
	$(CXX) $(CPPFLAGS) $(CXXFLAGS) -I$(WORDS_OBJ) -c -o $@ $<
