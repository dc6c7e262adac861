# SPDX-License-Identifier: GPL-2.0
# Where shells look for completions: $(call install_completion,PROGRAM), $(call uninstall_completion,PROGRAM).

COMPLETION := $(patsubst %/,%,$(dir $(lastword $(MAKEFILE_LIST))))
BASHDIR ?= $(PREFIX)/share/bash-completion/completions
ZSHDIR ?= $(PREFIX)/share/zsh/vendor-completions
FISHDIR ?= $(PREFIX)/share/fish/vendor_completions.d

define install_completion
install -D -m 644 $(COMPLETION)/$(1).bash $(DESTDIR)$(BASHDIR)/$(1)
install -D -m 644 $(COMPLETION)/$(1).zsh $(DESTDIR)$(ZSHDIR)/_$(1)
install -D -m 644 $(COMPLETION)/$(1).fish $(DESTDIR)$(FISHDIR)/$(1).fish
endef
uninstall_completion = rm -f $(DESTDIR)$(BASHDIR)/$(1) $(DESTDIR)$(ZSHDIR)/_$(1) $(DESTDIR)$(FISHDIR)/$(1).fish
