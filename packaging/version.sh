# Sourced: `orrery_version` prints the version of the tree: of the git tag `vX.Y.Z`, with the number of commits since it
# behind a plus; where there is no tag or no git, the version of CMakeLists.txt.
orrery_version() {
    local described plain
    plain=$(sed -n 's/^project(Orrery VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
    described=$(git describe --tags --match 'v[0-9]*' 2>/dev/null) || { echo "$plain"; return; }
    echo "${described#v}" | sed -E 's/-([0-9]+)-g([0-9a-f]+)$/+\1.\2/'
}
