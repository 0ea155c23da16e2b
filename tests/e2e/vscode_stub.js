// Loads the extension for Visual Studio Code with a stub of the module `vscode`, starts the debug adapter that it names,
// and prints the tree of warps before and after a click on a lane, as JSON.
//
// usage: vscode_stub.js EXTENSION PROGRAM
const { spawn } = require("child_process");
const Module = require("module");
const [extension, program] = process.argv.slice(2);

const registered = { commands: {} };
const listeners = [];
const keep = (name) => (key, object) => (registered[name] = object ?? key);
let session;
const vscode = {
  TreeItemCollapsibleState: { None: 0, Collapsed: 1 },
  TreeItem: class { constructor(label, state) { Object.assign(this, { label, collapsibleState: state }); } },
  ThemeIcon: class { constructor(id) { this.id = id; } },
  EventEmitter: class { constructor() { this.event = (listener) => listeners.push(listener); } fire() { listeners.forEach((l) => l()); } },
  DebugAdapterExecutable: class { constructor(command, args) { Object.assign(this, { command, args }); } },
  debug: {
    get activeDebugSession() { return session; },
    registerDebugAdapterDescriptorFactory: keep("descriptors"),
    registerDebugConfigurationProvider: keep("configurations"),
    registerDebugAdapterTrackerFactory: keep("trackers"),
    onDidChangeActiveDebugSession: () => ({}),
  },
  window: { activeTextEditor: { document: { fileName: "kernel.cu" } }, registerTreeDataProvider: keep("tree") },
  workspace: { getConfiguration: () => ({ get: () => program }) },
  commands: { registerCommand: (name, work) => (registered.commands[name] = work) },
};
const load = Module._load;
Module._load = (name, ...rest) => (name === "vscode" ? vscode : load(name, ...rest));
require(extension).activate({ subscriptions: [] });

const { command, args } = registered.descriptors.createDebugAdapterDescriptor();
const adapter = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] });
const tracker = registered.trackers.createDebugAdapterTracker();
const answers = new Map(), events = [];
let bytes = Buffer.alloc(0), wake = () => {}, sent = 0;
adapter.stdout.on("data", (more) => {
  bytes = Buffer.concat([bytes, more]);
  for (;;) {
    const end = bytes.indexOf("\r\n\r\n");
    const length = Number(/\d+/.exec(bytes.subarray(0, end)));
    if (end < 0 || bytes.length < end + 4 + length) return;
    const message = JSON.parse(bytes.subarray(end + 4, end + 4 + length));
    bytes = bytes.subarray(end + 4 + length);
    tracker.onDidSendMessage(message);
    if (message.type === "event") events.push(message.event);
    else answers.get(message.request_seq)(message);
    wake();
  }
});
const ask = (command, args) => new Promise((resolve, reject) => {
  const body = JSON.stringify({ seq: ++sent, type: "request", command, arguments: args });
  answers.set(sent, (answer) => (answer.success ? resolve(answer.body) : reject(new Error(answer.message))));
  adapter.stdin.write(`Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
});
const wait = async (event) => {
  while (!events.includes(event)) await new Promise((resolve) => (wake = resolve));
  events.splice(events.indexOf(event), 1);
};
const shown = async (node) => {
  const children = [];
  for (const child of await registered.tree.getChildren(node)) children.push({ ...registered.tree.getTreeItem(child), children: await shown(child) });
  return children;
};

(async () => {
  const result = { completed: registered.configurations.resolveDebugConfiguration(null, {}), closed: await shown() };
  session = { type: "warpscope", customRequest: ask };
  await ask("initialize", {});
  await ask("launch", { experiment: "dot", stopOnEntry: true });
  await wait("initialized");
  let changes = 0;
  registered.tree.onDidChangeTreeData(() => ++changes);
  await ask("configurationDone", {});
  await wait("stopped");
  result.before = await shown();
  const lane = result.before[2].children[5].command;
  await registered.commands[lane.command](...lane.arguments);
  await wait("stopped");
  result.after = await shown();
  result.changes = changes;
  await ask("disconnect", {});
  console.log(JSON.stringify(result));
})().catch((error) => {
  console.error(error);
  adapter.kill();
  process.exitCode = 1;
});
