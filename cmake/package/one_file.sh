#!/bin/sh
# Makes one executable file of a tarball: one_file.sh TARBALL FILE. Debian's makeself would unpack at every start.
set -eu
tarball=$1 file=$2
sum=$(sha256sum "$tarball" | cut -c 1-16)
header=$(dirname "$0")/unpack.sh
size=$(($(wc -c <"$header") + 1))  # a placeholder and its value have one length
[ "$size" -lt 10000 ]
sed -e "s/@first_byte@/$(printf '%12d' "$size")/" -e "s/@checksum_of_16@/$sum/" "$header" | cat - "$tarball" >"$file"
chmod 755 "$file"
