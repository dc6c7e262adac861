#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# folders.sh DIR SOURCE... - writes DIR/FOLDER.c, which includes the sources of that folder, and
# prints the objects' names. A file that would not change is not written. Called by Kbuild, where
# DIR is compat/.have.
set -euo pipefail

dir=$1
shift
mkdir -p "$dir"
folders=$(printf '%s\n' "${@%%/*}" | awk '!seen[$0]++')
for folder in $folders; do
	{
		echo "/* Written by compat/folders.sh. */"
		printf '%s\n' "$@" | grep "^$folder/" | sed 's|.*|#include "../../&"|'
	} >"$dir/$folder.c.new"
	cmp -s "$dir/$folder.c.new" "$dir/$folder.c" || cp "$dir/$folder.c.new" "$dir/$folder.c"
	rm "$dir/$folder.c.new"
	echo "compat/.have/$folder.o"
done
