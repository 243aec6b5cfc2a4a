#!/bin/sh
# Runs a program on a virtual X server with a window manager, without which windows never become active.
exec xvfb-run -a -s "-screen 0 1600x1200x24" sh -c 'openbox >/dev/null 2>&1 & exec "$0" "$@"' "$@"
