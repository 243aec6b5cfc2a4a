#!/bin/sh
# Runs a program on a virtual X server with a window manager, without which windows never become active. The program
# starts once the window manager manages windows: one that is mapped before may never be seen.
exec xvfb-run -a -s "-screen 0 1600x1200x24" sh -c '
    ready=$(mktemp -u)
    openbox --startup "touch $ready" >/dev/null 2>&1 &
    for _ in $(seq 100); do [ -e "$ready" ] && break; sleep 0.1; done
    rm -f "$ready"
    exec "$0" "$@"' "$@"
