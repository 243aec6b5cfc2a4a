# Sourced by run.sh, test.sh and deb.sh: installs what is missing. Debian 12 (bookworm) or a descendant with the same packages.

package_packages="dpkg-dev"
build_packages="g++ cmake ninja-build ccache mold git ca-certificates
  qt6-base-dev qt6-svg-dev libqcustomplot-dev libyaml-cpp-dev libtbb-dev libfmt-dev libexpected-dev
  libonnx-dev libprotobuf-dev protobuf-compiler nlohmann-json3-dev libsqlite3-dev zlib1g-dev libsnappy-dev libzstd-dev liblzma-dev libgl1-mesa-dev libgraphviz-dev libconfig++-dev libxgboost-dev pkgconf
  libzydis-dev libpagmo-dev libeigen3-dev libopenmpi-dev
  fonts-inter fonts-dejavu-core breeze-icon-theme"
test_packages="libonnx-testdata libbenchmark-dev openmpi-bin xvfb xauth openbox appstream desktop-file-utils lintian"

install_missing() {
    missing=
    for package in "$@"; do
        dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q '^install ok installed$' || missing="$missing $package"
    done
    [ -z "$missing" ] && return 0
    as_root=
    if [ "$(id -u)" -ne 0 ]; then
        command -v sudo >/dev/null || { echo "Missing packages:$missing. Install them as root and start again." >&2; return 1; }
        as_root=sudo
    fi
    echo "Installing:$missing"
    # An installation that was cut off before leaves packages half configured, and apt refuses to go on until they are.
    $as_root env DEBIAN_FRONTEND=noninteractive dpkg --configure -a >/dev/null
    $as_root apt-get update -qq
    $as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing >/dev/null
}

# build_release [cmake argument…]: leaves the programs in build/release/bin.
build_release() {
    cmake --preset release "$@"
    cmake --build --preset release
}
