#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The module's folders call one way (Documentation/developer/architecture.md).
set -euo pipefail
here=$(dirname "$(readlink -f "$0")")

echo "TAP version 13"
rc=0
"$here/../kernel/test_rooms.py" | awk '
	/^ok - /     { sub(/^ok - /, "ok " ++n " - ") }
	/^not ok - / { sub(/^not ok - /, "not ok " ++n " - ") }
	{ print }
	END { print "1.." n + 0 }' || rc=$?
exit $rc
