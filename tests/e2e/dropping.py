"""A file manager's side of a drop: the XDND protocol, version 5, for one file.

https://www.freedesktop.org/wiki/Specifications/XDND
"""
import ctypes
import pathlib

from driver import wait_for

CLIENT_MESSAGE, SELECTION_REQUEST, SELECTION_NOTIFY = 33, 30, 31
_LONG, _INT, _POINTER = ctypes.c_long, ctypes.c_int, ctypes.c_void_p


def _event(*fields):
    """An event's structure: the fields that all have, then its own."""
    common = [("type", _INT), ("serial", ctypes.c_ulong), ("send_event", _INT), ("display", _POINTER)]
    room = [("room", _LONG * 24)]
    return type("Event", (ctypes.Structure,), {"_fields_": common + list(fields) + room})


Message = _event(("window", _LONG), ("message_type", _LONG), ("format", _INT), ("data", _LONG * 5))
Request = _event(("owner", _LONG), ("requestor", _LONG), ("selection", _LONG), ("target", _LONG),
                 ("property", _LONG), ("time", _LONG))
Notify = _event(("requestor", _LONG), ("selection", _LONG), ("target", _LONG), ("property", _LONG),
                ("time", _LONG))


class FileDrop:
    """Drags a file over a window, and drops it there."""

    def __init__(self, display, target):
        self.x11 = ctypes.CDLL("libX11.so.6")
        for name in ("XOpenDisplay", "XDefaultRootWindow", "XCreateSimpleWindow", "XInternAtom"):
            getattr(self.x11, name).restype = _POINTER if name == "XOpenDisplay" else _LONG
        self.display = _POINTER(self.x11.XOpenDisplay(display.encode()))
        root = self.x11.XDefaultRootWindow(self.display)
        self.window = self.x11.XCreateSimpleWindow(
            self.display, _LONG(root), 0, 0, 1, 1, 0, _LONG(0), _LONG(0))
        self.target = target

    def atom(self, name):
        return self.x11.XInternAtom(self.display, name.encode(), 0)

    def send(self, name, *data):
        message = Message(type=CLIENT_MESSAGE, window=self.target, message_type=self.atom(name), format=32)
        message.data[:] = [self.window, *data, *[0] * (4 - len(data))]
        self.x11.XSendEvent(self.display, _LONG(self.target), 0, _LONG(0), ctypes.byref(message))
        self.x11.XFlush(self.display)

    def answer(self, name, give):
        """Waits for a message of the target; gives it what it asks for meanwhile. Returns its data."""
        found = []

        def there():
            while self.x11.XPending(self.display):
                event = Message()
                self.x11.XNextEvent(self.display, ctypes.byref(event))
                if event.type == SELECTION_REQUEST:
                    give(ctypes.cast(ctypes.byref(event), ctypes.POINTER(Request)).contents)
                elif event.type == CLIENT_MESSAGE and event.message_type == self.atom(name):
                    found.append(list(event.data))
            return found
        return wait_for(name, there)[0]

    def drop(self, path, x, y):
        kind, text = self.atom("text/uri-list"), (pathlib.Path(path).as_uri() + "\r\n").encode()

        def give(asked):
            self.x11.XChangeProperty(self.display, _LONG(asked.requestor), _LONG(asked.property), _LONG(kind),
                                     8, 0, text, len(text))
            notice = Notify(type=SELECTION_NOTIFY, requestor=asked.requestor, selection=asked.selection,
                            target=asked.target, property=asked.property, time=asked.time)
            self.x11.XSendEvent(self.display, _LONG(asked.requestor), 0, _LONG(0), ctypes.byref(notice))
            self.x11.XFlush(self.display)
        self.x11.XSetSelectionOwner(self.display, _LONG(self.atom("XdndSelection")), _LONG(self.window), _LONG(0))
        self.send("XdndEnter", 5 << 24, kind)
        self.send("XdndPosition", 0, x << 16 | y, 0, self.atom("XdndActionCopy"))
        assert self.answer("XdndStatus", give)[1] & 1, "the window does not take the file"
        self.send("XdndDrop")
        finished = self.answer("XdndFinished", give)
        self.x11.XCloseDisplay(self.display)
        return finished[1] != 0  # GLFW answers with the number of bytes
