"""Runs a program with a network and a folder of X sockets of its own: namespaces of Linux.

`python namespace.py FOLDER PROGRAM ARGUMENT ...` imports the standard library alone, to start fast.
"""

from __future__ import annotations

import ctypes
import fcntl
import os
import socket
import struct
import sys

_X_SOCKETS = "/tmp/.X11-unix"
_OWN_MOUNTS, _OWN_NETWORK, _OWN_USERS = 0x20000, 0x40000000, 0x10000000
_BIND, _PRIVATE = 0x1000, 0x4000 | 0x40000
_SET_FLAGS, _UP = 0x8914, 1


def main() -> None:
    """Become the program.

    Raises:
        OSError: the machine does not allow it.
    """
    folder, *command = sys.argv[1:]
    libc = ctypes.CDLL(None, use_errno=True)

    def must(result: int) -> None:
        if result:
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))

    if libc.unshare(_OWN_MOUNTS | _OWN_NETWORK):
        must(libc.unshare(_OWN_MOUNTS | _OWN_NETWORK | _OWN_USERS))
    must(libc.mount(None, b"/", None, _PRIVATE, None))
    if not os.path.isdir(_X_SOCKETS):  # noqa: PTH112 - pathlib is slow to import
        os.mkdir(_X_SOCKETS)  # noqa: PTH102
        os.chmod(_X_SOCKETS, 0o1777)  # noqa: PTH101 - as X servers make it
    must(libc.mount(os.fsencode(folder), _X_SOCKETS.encode(), None, _BIND, None))
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        fcntl.ioctl(any_socket, _SET_FLAGS, struct.pack("16sh14x", b"lo", _UP))
    os.execvp(command[0], command)


if __name__ == "__main__":
    main()
