// { "since": "always", "what": "must compile: else the probing itself is broken", "used_by": "probe.sh" }
#include <linux/module.h>

int mrc_probe;
