# Sourced: `orrery_version` prints $ORRERY_TREE_VERSION where it is set (a tree without its history), else the version of
# the git tag `vX.Y.Z`, with the number of commits since it behind a plus; where there is no tag or no git, the version
# of CMakeLists.txt.
orrery_version() {
    local described plain
    [ -z "${ORRERY_TREE_VERSION:-}" ] || { echo "$ORRERY_TREE_VERSION"; return; }
    plain=$(sed -n 's/^set(ORRERY_UNTAGGED_VERSION \([0-9.]*\))/\1/p' CMakeLists.txt)
    described=$(git describe --tags --match 'v[0-9]*' 2>/dev/null) || { echo "$plain"; return; }
    echo "${described#v}" | sed -E 's/-([0-9]+)-g([0-9a-f]+)$/+\1.\2/'
}
