#!/usr/bin/env bash
# Installs what is missing, builds Orrery and starts it on the first example. Without a display it answers the same
# example headless and leaves a report folder.
set -euo pipefail
cd "$(dirname "$0")/.."
. packaging/dependencies.sh

install_missing $build_packages
build_release -DORRERY_TESTS=OFF

if [ -n "${DISPLAY:-}${WAYLAND_DISPLAY:-}" ]; then
    exec build/release/bin/orrery --example first-light "$@"
fi
echo "There is no display, so the first example is answered headless."
QT_QPA_PLATFORM=offscreen build/release/bin/orrery --example first-light --report report
echo "The report is in $PWD/report: open report.html; the pictures are PNG, the numbers CSV and JSON."
