"""The command `warpscope` of the wheel: becomes the program."""
import os
import sys

from . import _program


def main():
    program = _program.path()
    os.execve(program, [program, *sys.argv[1:]], _program.environment())


if __name__ == "__main__":
    main()
