#!/usr/bin/env bash
# man.sh PROGRAM TITLE SECTION-1-SUMMARY: writes the manual page of a program to standard output, from its own --help,
# and of every command that it lists.
set -euo pipefail
program=$1 name=$(basename "$1") summary=$2
version=$("$program" --version | awk '{print $2}')
escape() { sed -e 's/\\/\\\\/g' -e "s/^\\([.']\\)/\\\\\\&\\1/" -e 's/-/\\-/g'; }
printf '.TH %s 1 "" "Orrery %s" "Orrery"\n.SH NAME\n%s \\- %s\n' "$(echo "$name" | tr a-z A-Z)" "$version" "${name//-/\\-}" "$summary"
printf '.SH SYNOPSIS\n.nf\n'
"$program" --help | head -1 | escape
printf '.fi\n.SH DESCRIPTION\n.nf\n'
"$program" --help | tail -n +2 | escape
printf '.fi\n'
[ "$name" = orrery-cli ] || exit 0
printf '.SH COMMANDS\n'
"$program" --help | sed -nE 's/^  ([a-z][a-z-]*)  +.*/\1/p' | sort -u | while read -r command; do
    "$program" "$command" --help >/dev/null 2>&1 || continue
    printf '.SS %s\n.nf\n' "$command"
    "$program" "$command" --help | escape
    printf '.fi\n'
done
