# Run by compressed_files(): writes the file OUT, which is IN compressed by zstd.
file(ARCHIVE_CREATE OUTPUT ${OUT} PATHS ${IN} FORMAT raw COMPRESSION Zstd COMPRESSION_LEVEL 9)
