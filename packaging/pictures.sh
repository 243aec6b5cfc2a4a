#!/bin/sh
# Remakes the pictures of the five-minute demo, resources/screenshots/demo-*.png, from a release build: the demo's test
# leaves one of each step. Needs imagemagick.
set -eu
cd "$(dirname "$0")/.."
build=${ORRERY_BUILD:-build/release}
cmake --build "$build" --target orrery-tests-studio
QT_QPA_PLATFORM=offscreen ORRERY_CONFIG_HOME=$(mktemp -d) "$build/tests/orrery-tests-studio" tst_demo
for picture in "$build"/test-output/studio/demo-*.png; do
    convert "$picture" -resize 1000x -dither None -colors 128 -strip "resources/screenshots/$(basename "$picture")"
done
