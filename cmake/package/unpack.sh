#!/bin/sh
# Warpscope in one file. The first start unpacks the archive behind these lines into the cache folder.
set -eu
fail() {
    echo "warpscope: $*" >&2
    exit 1
}
case ${XDG_CACHE_HOME:-} in
    /*) cache=$XDG_CACHE_HOME/warpscope ;;
    *) cache=${HOME:?}/.cache/warpscope ;;
esac
folder=$cache/program-@checksum@
if [ ! -x "$folder/start" ]; then
    mkdir -p "$cache" && new=$(mktemp -d "$folder.XXXXXX") || fail "$cache can't be written: set XDG_CACHE_HOME to another folder"
    trap 'rm -rf "$new"' EXIT
    trap 'exit 1' HUP INT TERM
    tail -n +@first_line@ "$0" | tar -xz --no-same-owner --strip-components=1 -C "$new" || fail "$cache: the program can't be unpacked; it needs 25 MB"
    # Another process may have unpacked it meanwhile.
    mv -T "$new" "$folder" 2>/dev/null || [ -x "$folder/start" ] || fail "$folder can't be made"
    trap - EXIT
    rm -rf "$new"
fi
exec "$folder/start" "$@"
