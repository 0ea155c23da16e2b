"""Decodes the animated PNGs that Warpscope records."""
import struct
import zlib
from pathlib import Path

from driver import Picture, read_png


def chunk(kind, body):
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


def read_animation(path, folder):
    """The frames of an animated PNG as whole pictures, and the texts of the file."""
    data = Path(path).read_bytes()
    at, frames, announced = 8, [], None
    while at < len(data):
        length, kind = struct.unpack(">I4s", data[at:at + 8])
        body = data[at + 8:at + 8 + length]
        at += 12 + length
        if kind == b"acTL":
            announced = struct.unpack(">II", body)[0]
        elif kind == b"fcTL":
            frames.append([struct.unpack(">IIII", body[4:20]), b""])
        elif kind in (b"IDAT", b"fdAT"):
            frames[-1][1] += body[4:] if kind == b"fdAT" else body
    assert announced == len(frames), announced
    pictures = []
    for (width, height, x, y), packed in frames:
        part = folder / "part.png"
        part.write_bytes(data[:8] + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)) +
                         chunk(b"IDAT", packed) + chunk(b"IEND", b""))
        picture = read_png(part)[0]
        if pictures:
            rows = [bytearray(row) for row in pictures[-1].rows]
            for i, row in enumerate(picture.rows):
                rows[y + i][3 * x:3 * (x + width)] = row
            picture = Picture(pictures[-1].width, pictures[-1].height, [bytes(r) for r in rows], 3)
        pictures.append(picture)
    return pictures, read_png(path)[1]
