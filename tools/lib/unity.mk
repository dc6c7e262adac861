# SPDX-License-Identifier: GPL-2.0
# One compilation for a group of C++ sources: most of the time of each goes into headers that all of them include.
#
#	$(eval $(call unity,OBJDIR/NAME,SOURCE...))	makes the rule of OBJDIR/NAME.o
#
# OBJDIR/NAME.cc includes the sources, and is written anew when the list changes. Names of file scope are then shared
# by a group: they differ, and none of its files says "using namespace" or "#define" for the others. Each file
# compiles by itself as well: selftests/host/alone.sh.

define unity
$(1).cc: unity-looks
	@mkdir -p $$(@D)
	@list=$$$$(realpath -m --relative-to=$$(@D) $(2) | sed 's/.*/#include "&"/') && \
		{ [ "$$$$list" = "$$$$(cat $$@ 2>/dev/null)" ] || echo "$$$$list" >$$@; }

$(1).o: $(1).cc
	$$(CXX) $$(CPPFLAGS) $$(CXXFLAGS) -c -o $$@ $$<
endef

unity-looks:
.PHONY: unity-looks
