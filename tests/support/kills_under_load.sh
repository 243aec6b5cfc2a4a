#!/bin/sh
# Kills the studio many times at random while every core is busy, and looks for what it had shown.
# kills_under_load.sh TEST-PROGRAM [KILLS] [SEED], from tests/studio: build/release/tests/orrery-tests-studio
set -eu
program=$1
kills=${2:-200}
seed=${3:-7}
load=$(mktemp -d)
trap 'rm -rf "$load"' EXIT
core=0
while [ "$core" -lt "$(nproc)" ]; do
    (while [ -d "$load" ]; do :; done) &
    core=$((core + 1))
done
status=0
QT_QPA_PLATFORM=offscreen QTEST_FUNCTION_TIMEOUT=14400000 ORRERY_KILLS=$kills ORRERY_SEED=$seed "$program" tst_killed nothingShownIsLost || status=$?
rm -rf "$load"
wait
exit "$status"
