#!/usr/bin/env bash
# Installs what is missing, builds Orrery and passes every test.
set -euo pipefail
cd "$(dirname "$0")/.."
. packaging/dependencies.sh

install_missing $build_packages $test_packages
build_release -DORRERY_TESTS=ON
ctest --preset release -j"$(nproc)" "$@"
