"""A small client of the Debug Adapter Protocol."""

import json
import subprocess


class Refused(Exception):
    """A request without success; the text is the sentence of the server."""


class DapClient:
    """Starts `warpscope --dap` and talks to it."""

    def __init__(self, program, *arguments, **options):
        self.process = subprocess.Popen([program, "--dap", *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        **options)
        self.sent, self.events = 0, []

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.process.stdin.close()
        try:
            self.process.wait(20)
        finally:
            self.process.kill()
            self.process.stdout.close()

    def write(self, message):
        body = json.dumps(message).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        self.process.stdin.flush()

    def read(self):
        length = None
        while (line := self.process.stdout.readline().strip()):
            name, value = line.split(b":")
            assert name == b"Content-Length", line
            length = int(value)
        if length is None:
            raise EOFError
        return json.loads(self.process.stdout.read(length))

    def send(self, command, **arguments):
        self.sent += 1
        self.write({"seq": self.sent, "type": "request", "command": command, "arguments": arguments})
        return self.sent

    def answer(self, number):
        while True:
            message = self.read()
            if message["type"] == "event":
                self.events.append(message)
            elif message["request_seq"] == number:
                return message

    def ask(self, command, **arguments):
        answer = self.answer(self.send(command, **arguments))
        if not answer["success"]:
            raise Refused(answer["message"])
        return answer.get("body") or {}

    def wait(self, *names):
        """The next event of one of these names."""
        while True:
            for index, event in enumerate(self.events):
                if event["event"] in names:
                    return self.events.pop(index)
            message = self.read()
            if message["type"] == "event":
                self.events.append(message)

    def go(self, command, **arguments):
        """Moves the block, and returns why it stands still."""
        self.events = [e for e in self.events if e["event"] not in ("stopped", "terminated")]
        self.ask(command, **arguments)
        event = self.wait("stopped", "terminated")
        return event["body"] if event["event"] == "stopped" else None

    def start(self, filters=(), breakpoints=None, **arguments):
        """Launches, and sets breakpoints: lines by file. Returns the first stop and those breakpoints."""
        self.ask("initialize", adapterID="warpscope", linesStartAt1=True)
        self.ask("launch", **arguments)
        self.wait("initialized")
        made = []
        for path, lines in (breakpoints or {}).items():
            made += self.ask("setBreakpoints", source={"path": path}, breakpoints=lines)["breakpoints"]
        self.ask("setExceptionBreakpoints", filters=list(filters))
        return self.go("configurationDone"), made

    def frame(self, thread):
        return self.ask("stackTrace", threadId=thread)["stackFrames"][0]

    def scope(self, frame, name):
        return next(s for s in self.ask("scopes", frameId=frame["id"])["scopes"] if s["name"] == name)

    def variables(self, reference, **arguments):
        return {v["name"]: v for v in self.ask("variables", variablesReference=reference, **arguments)["variables"]}

    def output(self):
        return "".join(e["body"]["output"] for e in self.events if e["event"] == "output")
