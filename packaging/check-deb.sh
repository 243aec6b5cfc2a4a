#!/usr/bin/env bash
# check-deb.sh FILE.deb: is the package clean, does it install in a bare Debian 12, does the menu entry's command start,
# does the command line answer, and is nothing left when it is removed? Needs root, lintian, debootstrap, Xvfb, xdotool
# and a mirror.
# ORRERY_CHROOT names a bare system that is there already; else one is made and thrown away (250 MB).
set -euo pipefail
deb=$(readlink -f "$1")
mirror=${ORRERY_MIRROR:-http://deb.debian.org/debian}

echo "== lintian"
lintian --fail-on error,warning "$deb"

root=${ORRERY_CHROOT:-}
if [ -z "$root" ]; then
    root=$(mktemp -d /tmp/orrery-chroot.XXXXXX)
    trap 'rm -rf --one-file-system "$root"' EXIT  # of a debootstrap that fails
    debootstrap --variant=minbase bookworm "$root" "$mirror" >/dev/null
fi
prefix=  # `exec`: instead of the shell
in_it() { $prefix chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8 QT_QPA_PLATFORM=offscreen "$@"; }
of_ours() { find "$root" -xdev -iname '*orrery*' -not -path "$root/root/*" -not -path "$root/var/log/*" -not -path "$root/var/lib/apt/*" | sed "s|^$root||" | sort; }

# As every running system has it.
mountpoint -q "$root/proc" || mount -t proc proc "$root/proc"
trap 'umount "$root/proc"; [ -n "${ORRERY_CHROOT:-}" ] || rm -rf --one-file-system "$root"' EXIT

cp "$deb" "$root/root/orrery.deb"
before=$(of_ours)
echo "== install"
in_it apt-get update -qq
in_it apt-get install -y -qq --no-install-recommends /root/orrery.deb >/dev/null
in_it dpkg -s orrery | grep -E '^(Status|Version|Installed-Size)'

echo "== the menu entry's command"
command=$(sed -n 's/^Exec=\([^ ]*\).*/\1/p' "$root/usr/share/applications/orrery.desktop")
desktop-file-validate "$root/usr/share/applications/orrery.desktop"
appstreamcli validate --no-net "$root"/usr/share/metainfo/*orrery*.metainfo.xml
# As a desktop starts it: with the entry's command, no file and a display. The bare system has no X server; the one out
# here listens on an abstract socket, which does not end at the new root.
number=$(($$ % 30000 + 100))
Xvfb ":$number" -screen 0 1280x720x24 -nolisten tcp >/dev/null 2>&1 &
server=$!
prefix=exec in_it DISPLAY=":$number" QT_QPA_PLATFORM=xcb "$command" &
studio=$!
window=$(DISPLAY=:$number timeout 60 xdotool search --sync --onlyvisible --name 'Orrery$' | head -1) || true
title=$([ -z "$window" ] || DISPLAY=:$number xdotool getwindowname "$window")
alive=$(kill -0 "$studio" 2>/dev/null && echo yes || echo no)
kill "$studio" "$server" 2>/dev/null || true
wait "$studio" "$server" 2>/dev/null || true
echo "window: ${title:-none}, still running: $alive"
[ -n "$title" ] && [ "$alive" = yes ]
in_it "$command" --version
in_it "$command" --startup-report
in_it "$command" --example first-light --report /root/report
test -s "$root/root/report/report.html"
echo "== the command line"
in_it orrery-cli run --hardware h100-sxm --workload llama-2-7b --method roofline | head -3
# An agent whose library is loaded when it is chosen.
in_it orrery-cli search /usr/share/orrery/presets/searches/edge-chip.yaml --agent moead --evaluations 60 | head -3

echo "== remove"
in_it apt-get purge -y -qq orrery >/dev/null
left=$(comm -13 <(echo "$before") <(of_ours))
if [ -n "$left" ]; then
    echo "left behind:" >&2
    echo "$left" >&2
    exit 1
fi
echo "clean"
