#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# mrc-dkms's scripts where a build fails: headers of another kernel, a full disk, an upgrade that stops half-way. One
# sentence each, and the old module stays. DKMS is a few lines here; the real one is host/debian.sh's.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=selftests/lib/lib.sh
. "$here/../lib/lib.sh"

# In mounts of our own: nothing of this machine is changed.
if [ -z "${MRC_DKMS_MOUNTS:-}" ]; then
	need_cmd unshare depmod modinfo
	[ "$(id -u)" -eq 0 ] || ksft_skip_all "needs root"
	MRC_DKMS_MOUNTS=1 exec unshare -m "$0" "$@"
fi
ksft_plan ""
kernel=$(uname -r)
tmp=$(mktemp -d)
at_exit rmdir "$tmp"
mount -t tmpfs none "$tmp"
at_exit umount -R -l "$tmp"
mkdir -p "$tmp"/{lib,modules,headers/include/generated,small,scripts}
mkdir -p /lib/modules
mount --bind "$tmp/modules" /lib/modules
mount --bind "$tmp/lib" /var/lib
kdir=$tmp/headers
modules=/lib/modules/$kernel
mkdir -p "$modules"
touch "$modules"/modules.{order,builtin}

# ------------------------------------------------------------ before-build
mount -t tmpfs -o size=1m none "$tmp/small"
before_build() { (cd "$1" && exec "$MRC_TOP/tools/debian/dkms/before-build" $kernel "$kdir"); }
# sentence EXPRESSION COMMAND...: it fails with one line, which is this.
sentence() {
	local expression=$1 said
	shift
	said=$("$@" 2>&1 >/dev/null) && return 1
	echo "$said"
	[ "$(wc -l <<<"$said")" -eq 1 ] && grep -qE -- "$expression" <<<"$said"
}
ksft_test "headers that are incomplete" sentence "headers are missing or incomplete in $kdir: apt install --reinstall linux-headers-$kernel$" \
	before_build /
echo '#define UTS_RELEASE "6.1.0-other"' >"$kdir/include/generated/utsrelease.h"
ksft_test "headers of another kernel" sentence "headers in $kdir are those of 6.1.0-other: apt install --reinstall linux-headers-$kernel$" \
	before_build /
echo "#define UTS_RELEASE \"$kernel\"" >"$kdir/include/generated/utsrelease.h"
ksft_test "a full disk" sentence "only [01] MB are free in $tmp/small, the build needs [0-9]* MB$" before_build "$tmp/small"
ksft_test "a full folder of temporary files" sentence "only [01] MB are free in $tmp/small" \
	env TMPDIR="$tmp/small" bash -c "$(declare -f before_build); MRC_TOP=$MRC_TOP kernel=$kernel kdir=$kdir before_build '$tmp'"
ksft_test "all is well" before_build "$tmp"

# ----------------------------------------------------- prerm, postinst, postrm
# mrc.ko VERSION: what modinfo reads of a module.
module() {
	printf 'version=%s\0srcversion=%s\0' "$1" "$1" >"$tmp/modinfo"
	echo 'int nothing;' | gcc -x c -c -o "$tmp/module.o" - &&
		objcopy --add-section .modinfo="$tmp/modinfo" "$tmp/module.o" "$tmp/mrc.ko"
}
# dkms add VERSION, dkms remove: in place of what debhelper adds to the scripts.
cat >"$tmp/dkms" <<END
#!/bin/sh
case \$1 in
remove) rm -f $modules/updates/dkms/mrc.ko; rmdir $modules/updates/dkms || :;;
add)
	mkdir -p /var/lib/dkms/mrc/1/build
	if [ -e $tmp/fails ]; then
		cp $tmp/fails /var/lib/dkms/mrc/1/build/make.log
		exit 10
	fi
	find $modules -name 'mrc.ko*' | grep . && { echo "a module of the kernel's own"; exit 1; }
	mkdir -p $modules/updates/dkms && cp $tmp/mrc.ko $modules/updates/dkms/ && depmod $kernel
	;;
esac >&2
END
chmod +x "$tmp/dkms"
script() {	# NAME VERB [DKMS-VERB]
	sed "s|^#DEBHELPER#|$([ -z "${3:-}" ] || echo "$tmp/dkms $3")|" "$MRC_TOP/tools/debian/mrc-dkms.$1" >"$tmp/scripts/$1"
	sh "$tmp/scripts/$1" "$2"
}
version() { modinfo -k $kernel -F version mrc; }
has() { [ "$(version)" = "$1" ]; }
configure() { module "$1" && script postinst configure add; }
leaves() { script prerm upgrade remove && script postrm upgrade; }
clean() { ! find "$modules" /var/lib/mrc-dkms -name mrc-kept -o -path '/var/lib/mrc-dkms*' 2>/dev/null | grep .; }

ksft_test "installed" configure 1
ksft_test "the module is there" has 1
echo "mrc: no module for Linux $kernel: only 3 MB are free in /var/lib/dkms, the build needs 200 MB" >"$tmp/fails"
ksft_test "an upgrade begins" leaves
said() { said=$(configure 2 2>&1) && return 1; echo "$said"; grep -qF -- "$1" <<<"$said"; }
ksft_test "its build fails, and it is said why and what to do" \
	said "could not be built (no module for Linux $kernel: only 3 MB are free in /var/lib/dkms, the build needs 200 MB). What is loaded keeps working. Then: dpkg --configure mrc-dkms"
ksft_test "the old module stays" has 1
ksft_test "once more" said "could not be built"
ksft_test "the old module stays, once more" has 1
ksft_test "an upgrade from there" leaves
ksft_test "keeps the old module" said "keeps the module of the version before"
ksft_test "which is the old one" has 1
rm "$tmp/fails"
ksft_test "with room it is configured" configure 2
ksft_test "and the new module is there" has 2
ksft_test "nothing of the old one is left" clean

ksft_test "an upgrade whose unpacking stops" leaves
ksft_test "goes back" script postinst abort-upgrade
ksft_test "and has its module" has 2
ksft_test "a later one goes through" eval "leaves && configure 3"
ksft_test "with its module" has 3
ksft_test "and nothing is left" clean
ksft_test "one that was killed between the two" eval "leaves && rm -f '$tmp/scripts'/*"
ksft_test "is configured later" eval "configure 4 && has 4 && clean"

# Beside one that is loaded: 4 is installed. One version has the same sources as the next here, as a rebuild of theirs.
mount -t tmpfs none /sys/module
mkdir /sys/module/mrc
loaded() { echo "$1" >/sys/module/mrc/version && echo "$2" >/sys/module/mrc/srcversion; }
told() { leaves && configure 4 2>&1 | grep '^mrc-dkms: version'; }
ksft_test "an older one is loaded" loaded 3 3
ksft_equal "that is told" "mrc-dkms: version 4 is installed, the kernel runs version 3 until it is loaded anew" "$(told)"
ksft_test "of the same sources" loaded 3 4
ksft_equal "that too" "mrc-dkms: version 4 is installed, the kernel runs version 3 until it is loaded anew" "$(told)"
ksft_test "the one that is installed" loaded 4 4
ksft_equal "needs no word" "" "$(told)"
rm -r /sys/module/mrc

touch "$tmp/fails"
ksft_test "a build that fails, and a removal" eval "leaves && ! configure 5 && script prerm remove remove && script postrm remove && script postrm purge"
ksft_test "leave nothing" eval "! find /lib/modules /var/lib/mrc-dkms -name 'mrc*' | grep ."
ksft_finish
