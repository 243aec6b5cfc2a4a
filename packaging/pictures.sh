#!/bin/sh
# Remakes the pictures of README and handbook, resources/screenshots/*.png, from a release build: shipped examples, and
# the five-minute demo, whose test leaves one picture of each step. Needs imagemagick.
set -eu
cd "$(dirname "$0")/.."
build=${ORRERY_BUILD:-build/release}
cmake --build "$build" --target orrery orrery-tests-studio
export QT_QPA_PLATFORM=offscreen ORRERY_CONFIG_HOME
ORRERY_CONFIG_HOME=$(mktemp -d)
fresh=$(mktemp -d)
"$build/tests/orrery-tests-studio" tst_demo
cp "$build"/test-output/studio/demo-*.png "$fresh"
picture() { "$build/bin/orrery" --size 1600x1000 --screenshot "$fresh/$1.png" --theme "$2" --layout "$3" --example "$4"; }
picture explore-light light explore first-light
picture drawing-light light draw wired-by-hand
picture serving-dark dark explore disaggregated-serving
for each in resources/screenshots/*.png; do
    convert "$fresh/$(basename "$each")" -resize 1000x -dither None -colors 128 -strip "$each"
done
rm -r "$fresh" "$ORRERY_CONFIG_HOME"
