#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 600
#
# Two machines of different kernels, joined by four cables: what the ordinary user has.

set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
. "$here/../pair/machines.sh"

machines guest.sh 1024
