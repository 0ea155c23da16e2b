"""An editor debugs kernels and programs through the Debug Adapter Protocol, and an agent through the Model Context
Protocol.

usage: debugging.py PROGRAM [Debugging.NAME]
"""
import asyncio
import json
import math
import os
import pathlib
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest
import xml.etree.ElementTree
import zipfile

from dap_client import DapClient, Refused

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
DOT = {"experiment": "dot", "set": ["kernel=no_barriers"]}
DOT_CU = "kernels/dot.cu"
ALL = ["race", "barrier", "memory"]
PROGRAM = os.path.abspath((sys.argv + ["warpscope"])[1])


def processes_of(text):
    """The processes whose command line or environment names the text."""
    found = []
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if text.encode() in (folder / "cmdline").read_bytes() + (folder / "environ").read_bytes():
                found.append(int(folder.name))
        except OSError:
            pass
    return found


def number(text):
    """The number of a value: "true", "scaled (7)", "97 'a'", "0.5"; none of another text."""
    text = re.sub(r".* \((-?\d+)\)$|^(-?\d+) '.'$", r"\1\2", str(text))
    try:
        return float({"true": 1, "false": 0}.get(text, text))
    except ValueError:
        return math.nan


class Debugging(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def client(self, *arguments):
        client = DapClient(PROGRAM, *arguments, env=os.environ | {"WARPSCOPE_TEST": str(self.folder)})
        self.addCleanup(client.__exit__)
        return client

    def line(self, text, path=DOT_CU):
        lines = (REPOSITORY / path).read_text(encoding="utf-8").splitlines()
        return next(number for number, line in enumerate(lines, 1) if text in line)

    def shared(self, client, thread, name="cache", count=8):
        frame = client.frame(thread)
        array = client.variables(client.scope(frame, "Shared memory")["variablesReference"])[name]
        return array, [v["value"] for v in client.variables(array["variablesReference"], filter="indexed", start=0,
                                                            count=count).values()]

    def test_the_dot_product_without_its_barriers(self):
        client = self.client()
        store = self.line("cache[thread] = products")
        stop, made = client.start(filters=["race"], breakpoints={DOT_CU: [{"line": store}]}, **DOT)
        self.assertEqual((made[0]["verified"], made[0]["line"]), (True, store))
        self.assertEqual((stop["reason"], stop["hitBreakpointIds"]), ("breakpoint", [made[0]["id"]]))
        thread = stop["threadId"]
        self.assertEqual(client.frame(thread)["line"], store)
        array, values = self.shared(client, thread)
        self.assertEqual((array["type"], array["indexedVariables"]), ("float[1024]", 1024))
        self.assertEqual(values, ["0"] * 8)

        # A step of the warp stores its 32 sums; a step back takes them away.
        first = 32 * (thread - 1)
        client.go("next", threadId=thread)
        own = [client.ask("evaluate", expression=f"cache[{first + k}]")["result"] for k in range(32)]
        self.assertNotIn("0", own)
        back = client.go("stepBack", threadId=thread)
        self.assertEqual((back["reason"], client.frame(thread)["line"]), ("step", store))
        self.assertEqual(client.ask("evaluate", expression=f"cache[{first}]")["result"], "0")

        client.ask("setBreakpoints", source={"path": DOT_CU}, breakpoints=[])
        race = client.go("continue", threadId=thread)
        self.assertEqual(race["reason"], "exception")
        self.assertIn("() is missing", race["text"])
        info = client.ask("exceptionInfo", threadId=race["threadId"])
        self.assertEqual(info["exceptionId"], "race")
        both = [line.split(")")[0] + ")" for line in info["details"]["stackTrace"].splitlines()]
        self.assertEqual(len(both), 2)
        for words in both:  # "thread (96,0,0)"
            client.ask("evaluate", expression="cuda " + words, context="repl")
            focus = client.wait("stopped")["body"]
            number = int(words.split("(")[1].split(",")[0])
            self.assertEqual(focus["threadId"], number // 32 + 1)
            read = client.ask("evaluate", expression="threadIdx.x", context="hover")
            self.assertEqual(read["result"], str(number))
        text = client.output()
        self.assertIn(race["text"], text)
        self.assertEqual(client.go("reverseContinue", threadId=1)["reason"], "entry")

    def test_breakpoints_move_ask_count_and_log(self):
        client = self.client()
        comment = self.line("// Removes the read-after-write hazard between these writes")
        client.start(stopOnEntry=True, **DOT | {"set": ["kernel=no_loop_barrier"]})
        made = client.ask("setBreakpoints", source={"path": "/elsewhere/" + DOT_CU}, breakpoints=[
            {"line": comment}, {"line": 100000}, {"line": comment, "condition": "threadIdx.x =="},
            {"line": comment, "logMessage": "sum {cache[threadIdx.x]} of {threadIdx.x}"}])["breakpoints"]
        self.assertGreater(made[0]["line"], comment)
        self.assertIn(f"it stops at line {made[0]['line']}", made[0]["message"])
        self.assertEqual([m["verified"] for m in made], [True, False, False, True])
        self.assertIn("no code from line 100000 on", made[1]["message"])
        stop = client.go("continue", threadId=1)
        self.assertEqual(stop["hitBreakpointIds"], [made[0]["id"]])
        client.ask("setBreakpoints", source={"path": DOT_CU}, breakpoints=[])
        client.ask("setBreakpoints", source={"path": "/elsewhere/" + DOT_CU}, breakpoints=[
            {"line": made[0]["line"], "condition": "threadIdx.x == 70 && blockIdx.x == 0"}])
        client.ask("restart")
        self.assertEqual(client.wait("stopped")["body"]["reason"], "entry")
        stop = client.go("continue", threadId=1)
        self.assertEqual((stop["reason"], stop["threadId"]), ("breakpoint", 3))
        self.assertEqual(client.ask("evaluate", expression="threadIdx.x + 0")["result"], "70")
        client.ask("setBreakpoints", source={"path": "/elsewhere/" + DOT_CU}, breakpoints=[
            {"line": made[0]["line"], "logMessage": "sum {cache[threadIdx.x] > 0} of {threadIdx.x}"},
            {"line": made[0]["line"], "hitCondition": "3"}])
        client.ask("restart")
        client.wait("stopped")
        client.go("continue", threadId=1)
        self.assertEqual(client.output().count("sum 1 of "), 3)
        client.ask("setBreakpoints", source={"path": "/elsewhere/" + DOT_CU}, breakpoints=[])
        with self.assertRaisesRegex(Refused, "other form"):
            client.ask("setBreakpoints", breakpoints=[{"line": 60}])

        watch = client.ask("dataBreakpointInfo", name="cache[3]")
        client.ask("setDataBreakpoints", breakpoints=[{"dataId": watch["dataId"], "accessType": "write"}])
        client.ask("restart")
        client.wait("stopped")
        stop = client.go("continue", threadId=1)
        self.assertEqual((stop["reason"], stop["threadId"]), ("data breakpoint", 1))
        self.assertIn("writes word 3", stop["text"])
        client.ask("setDataBreakpoints", breakpoints=[])
        function = client.ask("setFunctionBreakpoints", breakpoints=[{"name": "dot_no_loop_barrier"}, {"name": "x"}])
        self.assertEqual([f["verified"] for f in function["breakpoints"]], [True, False])

    def test_values_sources_and_instructions(self):
        client = self.client()
        stop, _ = client.start(stopOnEntry=True, block=[2, 0, 0], **DOT)
        frame = client.frame(stop["threadId"])
        arguments = client.variables(client.scope(frame, "Arguments")["variablesReference"])
        self.assertEqual({n: v["type"] for n, v in arguments.items()},
                         {"a": "const float*", "b": "const float*", "partial": "float*", "n": "unsigned int"})
        self.assertEqual([v["value"] for v in client.variables(arguments["b"]["variablesReference"], start=4,
                                                              count=3).values()], ["8", "10", "12"])
        for text, value in {"n / 1024 + 1": "34", "a[5] * 2": "10", "blockIdx.x": "2", "!(n > 5) || 0": "0",
                            "blockDim.x % 7": "4", "b[a[3]]": "6"}.items():
            self.assertEqual(client.ask("evaluate", expression=text, context="watch")["result"], value, text)
        for text, why in {"a[99999999]": "elements", "nobody": "there is no nobody", "%r9999": "no register",
                          "n[0]": "no array", "1 +": "missing", "a[": "missing", "": "missing"}.items():
            with self.assertRaisesRegex(Refused, why, msg=text):
                client.ask("evaluate", expression=text)
        with self.assertRaisesRegex(Refused, "cannot be set"):
            client.ask("setVariable", variablesReference=1, name="n", value="1")
        with self.assertRaisesRegex(Refused, "does not answer the request nothing"):
            client.ask("nothing")
        with self.assertRaisesRegex(Refused, "cannot attach"):
            client.ask("attach")
        code = client.ask("disassemble", memoryReference=frame["instructionPointerReference"], instructionOffset=-2,
                          instructionCount=5)["instructions"]
        self.assertEqual([i.get("presentationHint") for i in code], ["invalid", "invalid", None, None, None])
        self.assertIn("mov.u32", code[2]["instruction"])
        sources = {s["name"]: s for s in client.ask("loadedSources")["sources"]}
        text = client.ask("source", sourceReference=sources[DOT_CU]["sourceReference"])["content"]
        self.assertEqual(text, (REPOSITORY / DOT_CU).read_text(encoding="utf-8"))
        self.assertEqual(client.ask("modules")["totalModules"], 1)
        self.assertEqual(len(client.ask("threads")["threads"]), 8)
        client.ask("evaluate", expression="cuda block (1,0,0) thread (32,0,0)", context="repl")
        self.assertEqual(client.wait("stopped")["body"]["threadId"], 2)
        self.assertEqual(client.ask("evaluate", expression="blockIdx.x")["result"], "1")
        with self.assertRaisesRegex(Refused, "there is no block"):
            client.ask("evaluate", expression="cuda block (100,0,0)", context="repl")
        client.ask("evaluate", expression="barrier", context="repl")
        client.wait("stopped")

    def test_a_recorded_session_of_neovim_is_answered(self):
        client = self.client()
        moves = {"configurationDone", "continue", "next", "stepBack"}
        lines = (pathlib.Path(__file__).parent / "sessions/neovim.jsonl").read_text(encoding="utf-8").splitlines()
        values = []
        for request in map(json.loads, lines):
            client.write(request)
            answer = client.answer(request["seq"])
            self.assertTrue(answer["success"], (request, answer))
            # Another focus is told as a stop, too.
            if request["command"] in moves or "cuda " in json.dumps(request):
                client.wait("stopped", "terminated")
            if request["command"] == "evaluate":
                values.append(answer["body"]["result"])
        self.assertEqual(values[0], "{0, 0, 0, 0, …}")
        self.assertGreater(float(values[1]), 0)

    def test_steps_back_end_where_the_steps_began(self):
        client = self.client()
        stop, _ = client.start(stopOnEntry=True, experiment="ripple")
        lines = [client.frame(stop["threadId"])["line"]]
        for _ in range(12):
            stop = client.go("next", threadId=stop["threadId"])
            lines.append(client.frame(stop["threadId"])["line"])
        self.assertGreater(len(set(lines)), 3)
        for _ in range(200):
            stop = client.go("stepBack", threadId=stop["threadId"])
            if "first instruction" in stop.get("text", ""):
                break
        self.assertEqual(client.frame(stop["threadId"])["line"], lines[0])

    def test_a_program_and_its_capture(self):
        if not shutil.which("nvcc"):
            self.skipTest("nvcc is missing")
        source = self.folder / "two.cu"
        source.write_text('''#include <cstdio>
__global__ void fill(int* to, int step) {
    to[threadIdx.x] = step * int(threadIdx.x);
    if (threadIdx.x == 1) printf("step %d\\n", step);
}
int main() {
    int* numbers;
    cudaMalloc(&numbers, 256);
    printf("begins\\n");
    fflush(stdout);
    fill<<<1, 64>>>(numbers, 2);
    fill<<<1, 64>>>(numbers, 3);
    cudaDeviceSynchronize();
    return 7;
}
''', encoding="utf-8")
        client = self.client()
        stop, made = client.start(program=str(source), breakpoints={str(source): [{"line": 3}]})
        self.assertTrue(made[0]["verified"], made)
        self.assertEqual(client.frame(stop["threadId"])["source"]["path"], str(source))
        self.assertEqual(client.ask("evaluate", expression="step")["result"], "2")
        steps = []
        while client.go("continue", threadId=1):
            steps.append(client.ask("evaluate", expression="step")["result"])
            if steps[-1] == "3":
                self.assertNotEqual(client.ask("evaluate", expression="to[5]")["result"], "0")
        self.assertEqual(steps, sorted(steps))
        self.assertEqual(set(steps), {"2", "3"})
        self.assertEqual(client.wait("exited")["body"]["exitCode"], 7)
        self.assertIn("begins\n", client.output())

        capture = self.folder / "two.wslaunch"
        subprocess.run([PROGRAM, "--capture", capture, str(source)], capture_output=True, check=False)
        client = self.client()
        client.start(program=str(capture), stopOnEntry=True)
        for launch, step in [(2, "3"), (1, "2"), (2, "3")]:
            client.ask("evaluate", expression=f"cuda launch {launch}", context="repl")
            client.wait("stopped")
            self.assertEqual(client.ask("evaluate", expression="step")["result"], step)
        with self.assertRaisesRegex(Refused, "there is no launch 3"):
            client.ask("evaluate", expression="cuda launch 3", context="repl")
        self.assertEqual(client.ask("evaluate", expression="step")["result"], "3")
        client = self.client()
        client.start(program=str(capture), launches="2", stopOnEntry=True, stopAtEnd=True)
        self.assertEqual(client.ask("evaluate", expression="step")["result"], "3")
        self.assertEqual(client.go("continue", threadId=1)["reason"], "end")
        self.assertIn("step 3\n", client.output())
        self.assertEqual(client.go("stepBack", threadId=1)["reason"], "step")
        self.assertEqual(client.go("continue", threadId=1)["reason"], "end")
        self.assertIsNone(client.go("continue", threadId=1))

    @staticmethod
    def value(client, expression, frame):
        try:
            return client.ask("evaluate", expression=expression, frameId=frame["id"])["result"]
        except Refused:
            return None

    def test_variables_show_what_printf_prints(self):
        if not shutil.which("nvcc"):
            self.skipTest("nvcc is missing")
        in_scope, wrong = 0, []
        for source in sorted((REPOSITORY / "tests/e2e/debugged").glob("*.cu")):
            lines = source.read_text(encoding="utf-8").splitlines()
            prints = {n: re.findall(r"(\S+)=%", line) for n, line in enumerate(lines, 1) if "values: " in line}
            client = self.client()
            stop, made = client.start(program=str(source), breakpoints={str(source): [{"line": n} for n in prints]})
            shown = {}
            while stop:
                frame = client.frame(stop["threadId"])
                known = client.variables(client.scope(frame, "Variables")["variablesReference"])
                if frame["line"] not in shown:
                    shown[frame["line"]] = known, {e: self.value(client, e, frame) for e in prints[frame["line"]]}
                stop = client.go("continue", threadId=stop["threadId"])
            self.assertEqual(set(shown), set(prints), source.name)
            printed = [dict(re.findall(r"(\S+)=(\S+)", line)) for line in client.output().splitlines()
                       if line.startswith("values: ")]
            for known, values in shown.values():
                truth = next(p for p in printed if list(p) == list(values))
                bad = {e: (values[e], truth[e]) for e in values
                       if not math.isclose(number(values[e]), float(truth[e]), rel_tol=1e-6, abs_tol=1e-6)}
                names = {re.split(r"[.\[]", e)[0] for e in values}
                in_scope += len(names | set(known))
                wrong += [(source.name, e, *both) for e, both in bad.items()]
                wrong += [(source.name, name, known[name]["value"]) for name in known if name not in names]
        self.assertGreater(in_scope, 100)
        self.assertLess(len(wrong), 0.05 * in_scope, wrong)

    def test_functions_and_their_callers(self):
        if not shutil.which("nvcc"):
            self.skipTest("nvcc is missing")
        source = str(REPOSITORY / "tests/e2e/debugged/scan.cu")
        first, call = self.line("const uint first", source), self.line("scanFour(data", source)
        for optimized in (False, True):
            client = self.client()
            stop, _ = client.start(program=source, optimized=optimized, breakpoints={source: [{"line": first}]})
            frames = client.ask("stackTrace", threadId=stop["threadId"])["stackFrames"]
            self.assertEqual([f["line"] for f in frames][-1], call)
            self.assertEqual(frames[0]["name"], "scanFour()")
            self.assertIn("scan, thread (0,0,0)", frames[-1]["name"])
            if not optimized:
                inner, outer = ({n: v["value"] for n, v in client.variables(
                    client.scope(f, "Variables")["variablesReference"]).items()} for f in frames)
                self.assertEqual(set(inner), {"first", "values", "total"})
                self.assertLessEqual({"data", "totals", "size", "thread", "four"}, set(outer))
                client.go("stepOut", threadId=stop["threadId"])
                self.assertEqual(client.frame(stop["threadId"])["line"], call)

        source = str(REPOSITORY / "tests/e2e/debugged/templates.cu")
        client = self.client()
        stop, _ = client.start(program=source, breakpoints={source: [{"line": self.line("return square;", source)}]})
        frames = client.ask("stackTrace", threadId=stop["threadId"])["stackFrames"]
        self.assertEqual([f["line"] for f in frames][1:], [self.line("squared(moved)", source)])
        self.assertIn("squared", frames[0]["name"])
        self.assertEqual(set(client.variables(client.scope(frames[0], "Variables")["variablesReference"])),
                         {"base", "square"})

    def test_no_process_stays_behind(self):
        source = self.folder / "endless.cu"
        source.write_text('''#include <cstdio>
__global__ void wait(volatile int* flag) { while (*flag == 0) {} }
__global__ void one(int* flag) { *flag = 0; }
int main() {
    int* flag;
    cudaMalloc(&flag, 4);
    one<<<1, 1>>>(flag);
    wait<<<1, 32>>>(flag);
    return cudaDeviceSynchronize();
}
''', encoding="utf-8")
        endings = [lambda c: c.ask("disconnect"), lambda c: c.process.stdin.close(), lambda c: c.process.terminate(),
                   lambda c: c.send("launch", program=str(source)) and c.process.stdin.close(),
                   lambda c: c.process.stdin.write(b"GET / HTTP/1.1\r\nContent-Length: 2\r\n\r\n{}") and
                   c.process.stdin.flush()]
        for number, end in enumerate(endings):
            client = self.client()
            if shutil.which("nvcc") and number != 3:
                client.start(program=str(source), stopOnEntry=True)
            end(client)
            client.process.wait(20)
            deadline = time.monotonic() + 10
            while (left := processes_of(str(self.folder))) and time.monotonic() < deadline:
                time.sleep(0.05)
            self.assertEqual(left, [], number)

    def test_a_kernel_without_end_is_paused(self):
        (self.folder / "loop.cu").write_text(
            "extern \"C\" __global__ void loop(volatile int* flag) { while (flag[0] == 0) flag[1] = threadIdx.x; }\n",
            encoding="utf-8")
        client = self.client()
        client.start(stopOnEntry=True, program=str(self.folder / "loop.cu"))
        client.ask("continue", threadId=1)
        self.assertGreater(len(client.ask("threads")["threads"]), 0)  # it runs on meanwhile
        with self.assertRaisesRegex(Refused, "pause it first"):
            client.ask("next", threadId=1)
        client.ask("pause", threadId=1)
        self.assertEqual(client.wait("stopped")["body"]["reason"], "pause")

    def test_every_request_of_the_protocol_is_answered(self):
        """Those of the specification, version 1.70, with arguments and without."""
        answered = """breakpointLocations configurationDone continue dataBreakpointInfo disassemble evaluate exceptionInfo
            initialize launch loadedSources modules next pause restart reverseContinue scopes setBreakpoints
            setDataBreakpoints setExceptionBreakpoints setFunctionBreakpoints setInstructionBreakpoints source stackTrace
            stepBack stepIn stepOut threads variables terminate disconnect""".split()
        refused = """attach cancel completions goto gotoTargets locations readMemory restartFrame setExpression setVariable
            stepInTargets terminateThreads writeMemory""".split()
        arguments = {"threadId": 1, "frameId": 1, "variablesReference": 1, "expression": "threadIdx.x", "name": "cache[0]",
                     "source": {"path": DOT_CU}, "sourceReference": 1, "breakpoints": [], "line": 60, "filters": [],
                     "memoryReference": "0", "instructionCount": 2, "stopOnEntry": True, "stopAtEnd": True, **DOT}
        moves = {"continue", "next", "stepIn", "stepOut", "stepBack", "reverseContinue", "restart", "configurationDone"}
        client = self.client()
        client.start(**arguments)
        for command in answered:
            if command == "variables":
                client.ask("scopes", frameId=1)
            client.events.clear()
            client.ask(command, **arguments)
            if command in moves:
                client.wait("stopped")
        client.process.wait(20)

        client = self.client()
        client.start(**arguments)
        for command in [*refused, *answered]:
            answer = client.answer(client.send(command))
            self.assertFalse(answer["success"] and command in refused, command)
            if not answer["success"]:
                self.assertRegex(answer["message"], "^[^ ]+( [^ ]+){2,}", command)
                self.assertEqual(answer["body"]["error"]["variables"]["why"], answer["message"])

    def test_random_requests_get_answers(self):
        client = self.client()
        client.start(stopOnEntry=True, **DOT)
        chance = random.Random(7)
        commands = ["threads", "stackTrace", "scopes", "variables", "evaluate", "setBreakpoints", "next", "stepBack",
                    "stepIn", "stepOut", "continue", "reverseContinue", "pause", "source", "disassemble", "modules",
                    "exceptionInfo", "dataBreakpointInfo", "setDataBreakpoints", "setFunctionBreakpoints",
                    "setInstructionBreakpoints", "breakpointLocations", "completions", "warpscope/focus", "cancel",
                    "restart", "configurationDone", "gotoTargets", "initialize", "setExceptionBreakpoints"]
        values = [0, 1, -1, 3, 10**12, "", "cache[1]", "(1,0,0)", None, [], {}, [1, 2], {"path": DOT_CU}, 0.5,
                  [{"line": 60}], ["race"], True]
        names = ["threadId", "frameId", "variablesReference", "expression", "source", "breakpoints", "line", "start",
                 "count", "granularity", "memoryReference", "instructionCount", "filters", "block", "thread", "name"]
        for _ in range(400):
            arguments = {chance.choice(names): chance.choice(values) for _ in range(chance.randrange(5))}
            answer = client.answer(client.send(chance.choice(commands), **arguments))
            self.assertTrue(answer["success"] or answer["message"].strip(), answer)
        self.assertIsNone(client.process.poll())

    def test_a_port_of_this_computer(self):
        process = subprocess.Popen([PROGRAM, "--dap=0"], stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.wait, 20)
        self.addCleanup(process.send_signal, signal.SIGTERM)
        port = int(process.stderr.readline().split()[-1])
        for _ in range(2):
            with socket.create_connection(("127.0.0.1", port)) as connection:
                body = json.dumps({"seq": 1, "type": "request", "command": "initialize"}).encode()
                connection.sendall(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
                self.assertIn(b"supportsStepBack", connection.recv(65536))

    def test_the_extension_of_vs_code(self):
        if not shutil.which("node"):
            self.skipTest("node is missing")
        extension = REPOSITORY / "editors/vscode/extension.js"
        result = json.loads(subprocess.run(["node", REPOSITORY / "tests/e2e/vscode_stub.js", extension, PROGRAM],
                                           capture_output=True, text=True, check=True).stdout)
        self.assertEqual((result["completed"]["type"], result["completed"]["program"]), ("warpscope", "kernel.cu"))
        self.assertEqual(result["closed"], [])
        self.assertEqual([w["label"] for w in result["before"]], [f"warp {n}" for n in range(8)])
        warp = result["before"][2]
        self.assertTrue(warp["description"].startswith("at kernels/dot.cu:"), warp["description"])
        self.assertEqual([lane["label"] for lane in warp["children"]], [f"lane {n}" for n in range(32)])
        self.assertEqual(warp["children"][5]["description"], "thread (69,0,0)")
        focus = [[lane["label"] for w in result[when] for lane in [w, *w["children"]] if "iconPath" in lane]
                 for when in ("before", "after")]
        self.assertEqual(focus[1], ["warp 2", "lane 5"])
        self.assertNotEqual(focus[0], focus[1])
        self.assertEqual(result["changes"], 2)

        subprocess.run([REPOSITORY / "editors/vscode/pack"], cwd=self.folder, check=True)
        with zipfile.ZipFile(self.folder / "warpscope.vsix") as vsix:
            self.assertIsNone(vsix.testzip())
            package = json.loads(vsix.read("extension/package.json"))
            for name in ("extension.vsixmanifest", "[Content_Types].xml"):
                xml.etree.ElementTree.fromstring(vsix.read(name))
            self.assertIn("extension/" + package["main"], vsix.namelist())

    def test_an_agent_with_the_client_of_pypi(self):
        try:
            import mcp
            from mcp.client.stdio import stdio_client
        except ImportError:
            self.skipTest("the package mcp is missing")
        if not shutil.which("nvcc"):
            self.skipTest("nvcc is missing")
        source = self.folder / "shift.cu"
        source.write_text('''#include <cstdio>
__global__ void shift(int* to) {
    __shared__ int cache[64];
    cache[threadIdx.x] = threadIdx.x;
    __syncthreads();
    to[threadIdx.x] = cache[63 - threadIdx.x];
    __syncthreads();
}
int main() {
    int* to;
    cudaMalloc(&to, 256);
    shift<<<1, 64>>>(to);
    return cudaDeviceSynchronize();
}
''', encoding="utf-8")
        kernel = self.folder / "late.cu"
        kernel.write_text('''extern "C" __global__ void late(int* y) {
    __shared__ int cache[64];
    y[threadIdx.x] = cache[63 - threadIdx.x];
    cache[threadIdx.x] = threadIdx.x;
}
''', encoding="utf-8")
        (self.folder / "late.launch.json").write_text(json.dumps({
            "source": "late.cu", "buffers": {"y": {"shape": 64}},
            "launches": [{"kernel": "late", "grid": 1, "block": 64}],
            "expect": [{"buffer": "y", "equals": "63 - i"}]}), encoding="utf-8")

        async def talk():
            server = mcp.StdioServerParameters(command=PROGRAM, args=["--mcp"])
            async with stdio_client(server) as (reading, writing), mcp.ClientSession(reading, writing) as session:
                await session.initialize()
                tools = [tool.name for tool in (await session.list_tools()).tools]
                calls = {"check": {"file": str(source)}, "counters": {"file": str(source)},
                         "needed_barriers": {"file": str(source)},
                         "why_wrong": {"file": str(self.folder / "late.launch.json"), "element": "first"},
                         "step_block": {"file": str(source), "breakpoints": [{"line": 6}], "moves": ["continue", "next"],
                                        "read": ["cache[5]", "to[0]", "threadIdx.x"]}}
                self.assertEqual(set(tools), set(calls))
                answers = {}

                async def call(tool, arguments):
                    answer = await session.call_tool(tool, arguments)
                    return answer.content[0].text, answer.model_dump(by_alias=True)["isError"]
                for tool, arguments in calls.items():
                    text, has_failed = await call(tool, arguments)
                    self.assertFalse(has_failed, (tool, text))
                    self.assertLess(len(text.encode()), 13_000, tool)
                    answers[tool] = text
                self.assertTrue((await call("check", {}))[1])
                return answers
        answers = asyncio.run(talk())
        self.assertIn("exit 0", answers["check"])
        self.assertIn("bank conflicts", answers["counters"])
        self.assertIn("shift.cu:5", answers["needed_barriers"])
        self.assertIn("late.cu:3", answers["why_wrong"])
        self.assertIn("cache[5] = 5", answers["step_block"])

    def test_an_agent_steps_a_block(self):
        def call(tool, **arguments):
            return {"method": "tools/call", "params": {"name": tool, "arguments": arguments}}
        requests = [{"method": "initialize", "params": {}}, {"method": "tools/list"},
                    call("step_block", moves=["next"]),
                    call("step_block", moves=["continue"], read=["cache[0]", "nobody"], **DOT),
                    call("step_block", moves=["stepBack"], read=["threadIdx.x"]),
                    call("check", file=str(self.folder / "none.cu")), call("nothing"), {"method": "nothing"}]
        lines = [json.dumps({"jsonrpc": "2.0", "id": i} | r) for i, r in enumerate(requests)] + ["{", "[]"]
        answers = [json.loads(line) for line in subprocess.run(
            [PROGRAM, "--mcp"], input="\n".join(lines), capture_output=True, text=True, check=True).stdout.splitlines()]
        self.assertEqual([a.get("id") for a in answers], [*range(len(requests)), None])
        tools = answers[1]["result"]["tools"]
        self.assertEqual([t["name"] for t in tools],
                         ["check", "counters", "needed_barriers", "why_wrong", "step_block"])
        for tool in tools:
            self.assertGreater(len(tool["description"]), 80)
            self.assertLessEqual(set(tool["inputSchema"]["required"]), set(tool["inputSchema"]["properties"]))
        texts = [a["result"]["content"][0]["text"] for a in answers[2:7]]
        self.assertEqual([a["result"]["isError"] for a in answers[2:7]], [True, False, False, False, True])
        self.assertIn("no launch is open", texts[0])
        self.assertIn("before any thread of its block has written it", texts[1])
        self.assertIn("cache[0] = ", texts[1])
        self.assertIn("nobody: there is no nobody", texts[1])
        self.assertIn("warp 7: at kernels/dot.cu", texts[1])
        self.assertIn("threadIdx.x = ", texts[2])
        self.assertIn("No such file", texts[3])
        self.assertIn("error", answers[7])


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
