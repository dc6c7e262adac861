# SPDX-License-Identifier: GPL-2.0
# One compilation for a group of C++ sources: most of the time of each goes into headers that all of them include.
#
#	$(eval $(call unity,OBJDIR/NAME,SOURCE...))	makes the rule of OBJDIR/NAME.o
#
# OBJDIR/NAME.cc includes the sources, and is written anew when the list changes. Names of file scope are then shared
# by a group: they differ from each other and from names in its headers, which they would hide. No file says "using
# namespace" or "#define" for those behind it. Each compiles by itself as well, and means the same:
# selftests/host/alone.sh, which asks for unity-flags and unity-lists.

define unity
UNITIES += $(1).cc
unity-lists: $(1).cc

$(1).cc: unity-looks
	@mkdir -p $$(@D)
	@list=$$$$(realpath -m --relative-to=$$(@D) $(2) | sed 's/.*/#include "&"/') && \
		{ [ "$$$$list" = "$$$$(cat $$@ 2>/dev/null)" ] || echo "$$$$list" >$$@; }

$(1).o: $(1).cc
	$$(CXX) $$(CPPFLAGS) $$(CXXFLAGS) -c -o $$@ $$<
endef

unity-looks:

unity-flags:
	@:$(info $(CPPFLAGS) $(CXXFLAGS))

unity-lists:
	@realpath $(UNITIES)

.PHONY: unity-looks unity-flags unity-lists
