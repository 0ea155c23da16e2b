#!/bin/sh
# Makes one executable file of a tarball: one_file.sh TARBALL FILE. It unpacks itself once, and not at each start, as
# files of makeself do.
set -eu
tarball=$1 file=$2
header=$(dirname "$0")/unpack.sh
first_line=$(($(wc -l <"$header") + 1))
sum=$(sha256sum "$tarball" | cut -c 1-16)
sed -e "s/@first_line@/$first_line/" -e "s/@checksum@/$sum/" "$header" | cat - "$tarball" >"$file"
chmod 755 "$file"
