#!/usr/bin/env bash
# Builds orrery_VERSION_ARCH.deb from the tree into build/deb. ORRERY_BUILD names a Release build that is there already.
set -euo pipefail
cd "$(dirname "$0")/.."
. packaging/dependencies.sh
. packaging/version.sh

build=${ORRERY_BUILD:-}
if [ -z "$build" ]; then
    install_missing $build_packages $package_packages
    build_release -DORRERY_TESTS=OFF
    build=build/release
fi
version=$(orrery_version)
built=$("$build/bin/orrery-cli" --version | cut -d' ' -f2)
if [ "$built" != "$version" ]; then
    echo "$build is Orrery $built, the tree is $version: build it again." >&2
    exit 1
fi
arch=$(dpkg --print-architecture)
out=build/deb stage=build/deb/stage
rm -rf "$stage"
mkdir -p "$stage/DEBIAN" "$stage/debian"
DESTDIR=$stage cmake --install "$build" --prefix /usr --strip >/dev/null

# Notes of the compiler, which no program reads.
find "$stage/usr/bin" "$stage/usr/lib" -type f -exec strip --remove-section=.comment --remove-section=.note {} +

share=$stage/usr/share
install -Dm644 packaging/desktop/orrery.desktop -t "$share/applications"
install -Dm644 packaging/desktop/orrery.svg -t "$share/icons/hicolor/scalable/apps"
install -Dm644 packaging/desktop/orrery-mime.xml "$share/mime/packages/orrery.xml"
install -Dm644 packaging/desktop/io.github.orrery.Orrery.metainfo.xml -t "$share/metainfo"
mkdir -p "$share/man/man1" "$share/doc/orrery"
QT_QPA_PLATFORM=offscreen packaging/man.sh "$build/bin/orrery" "studio for performance modelling of machine\-learning hardware" | gzip -9n >"$share/man/man1/orrery.1.gz"
packaging/man.sh "$build/bin/orrery-cli" "ask performance models of machine\-learning hardware" | gzip -9n >"$share/man/man1/orrery-cli.1.gz"
cp packaging/debian/copyright "$share/doc/orrery/copyright"
date=$(git log -1 --format=%cD 2>/dev/null || date -R)
printf 'orrery (%s) unstable; urgency=medium\n\n  * Built from the tree; the history of the repository says what changed.\n\n -- Orrery authors <orrery@example.org>  %s\n' "$version" "$date" | gzip -9n >"$share/doc/orrery/changelog.gz"
# Programs that only Orrery starts stand beside it. They take no arguments of people, so one sentence is their page.
for helper in "$stage"/usr/bin/*; do
    name=$(basename "$helper")
    [ -e "$share/man/man1/$name.1.gz" ] && continue
    printf '.TH %s 1 "" "Orrery %s" "Orrery"\n.SH NAME\n%s \\- helper program of orrery\n.SH DESCRIPTION\nStarted by orrery and orrery\\-cli, and of no use alone.\n.SH SEE ALSO\norrery(1), orrery\\-cli(1)\n' \
        "$(echo "$name" | tr a-z A-Z)" "$version" "${name//-/\\-}" | gzip -9n >"$share/man/man1/$name.1.gz"
done
find "$stage/usr" -type d -exec chmod 755 {} + ; find "$share" -type f -exec chmod 644 {} +

printf 'Source: orrery\nMaintainer: Orrery authors <orrery@example.org>\n\nPackage: orrery\nArchitecture: any\n' >"$stage/debian/control"
programs=$(find "$stage/usr/bin" "$stage/usr/lib" -type f 2>/dev/null | sed "s|^$stage/||")
# MPI is loaded where it is installed, and not needed.
why=$out/shlibdeps.log
needed=$(cd "$stage" && dpkg-shlibdeps -O --ignore-missing-info $(echo "$programs" | grep -v '/orrery-mpi\.so$') 2>"$OLDPWD/$why" | sed -n 's/^shlibs:Depends=//p') || true
rm -rf "$stage/debian"
if [ -z "$needed" ]; then
    echo "dpkg-shlibdeps found no libraries that the programs need:" >&2
    cat "$why" >&2
    exit 1
fi
rm "$why"
sed -e "s/@VERSION@/$version/" -e "s/@ARCH@/$arch/" -e "s/@DEPENDS@/$needed/" -e "s/@SIZE@/$(du -sk "$stage/usr" | cut -f1)/" packaging/debian/control.in >"$stage/DEBIAN/control"
(cd "$stage" && find usr -type f -printf '%P\n' | sort | sed 's|^|usr/|' | xargs -d '\n' md5sum >DEBIAN/md5sums)
dpkg-deb --root-owner-group --build "$stage" "$out/orrery_${version}_$arch.deb" >/dev/null
rm -rf "$stage"
echo "$out/orrery_${version}_$arch.deb"
