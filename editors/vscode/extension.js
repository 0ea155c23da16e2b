// Starts `warpscope --dap` for a debug session of the type "warpscope", and shows the warps of its block as a tree. All
// else is in Warpscope.
const vscode = require("vscode");

/// The warps of the block, the groups of lanes that are at one place, and the lanes.
class Warps {
  constructor() {
    this.changed = new vscode.EventEmitter();
    this.onDidChangeTreeData = this.changed.event;
  }

  async getChildren(node) {
    if (node) return node.children;
    const session = vscode.debug.activeDebugSession;
    if (session?.type !== "warpscope") return [];
    try {
      const answer = await session.customRequest("warpscope/warps");
      return answer.warps.map((warp) => this.warp(warp, answer.focus));
    } catch {
      return []; // no launch is open
    }
  }

  warp({ warp, state, groups }, focus) {
    const lanes = (group) => group.lanes.map(({ lane, thread }) => ({
      label: `lane ${lane}`, description: `thread ${thread}`, focus: { warp, lane }, children: [],
      has_focus: warp === focus.warp && lane === focus.lane }));
    const children = groups.map((group) => ({
      label: `${group.lanes.length} lanes`, description: group.state, children: lanes(group) }));
    return { label: `warp ${warp}`, description: state, has_focus: warp === focus.warp,
      children: children.length === 1 ? children[0].children : children };
  }

  getTreeItem(node) {
    const State = vscode.TreeItemCollapsibleState;
    const item = new vscode.TreeItem(node.label, node.children.length ? State.Collapsed : State.None);
    item.description = node.description;
    if (node.has_focus) item.iconPath = new vscode.ThemeIcon("arrow-right");
    if (node.focus) item.command = { command: "warpscope.focus", title: "Look at this lane", arguments: [node.focus] };
    return item;
  }
}

exports.activate = (context) => {
  const warps = new Warps();
  const start = () => {
    const program = vscode.workspace.getConfiguration("warpscope").get("program");
    return new vscode.DebugAdapterExecutable(program, ["--dap"]);
  };
  const complete = (folder, configuration) => {
    const file = vscode.window.activeTextEditor?.document.fileName;
    if (configuration.type || !file) return configuration;
    return { type: "warpscope", request: "launch", name: "Warpscope", program: file };
  };
  const follow = () => ({
    onDidSendMessage: (message) => {
      if (["stopped", "continued", "terminated"].includes(message.event)) warps.changed.fire();
    },
  });
  const focus = (place) => vscode.debug.activeDebugSession?.customRequest("warpscope/focus", place);
  context.subscriptions.push(
    vscode.debug.registerDebugAdapterDescriptorFactory("warpscope", { createDebugAdapterDescriptor: start }),
    vscode.debug.registerDebugConfigurationProvider("warpscope", { resolveDebugConfiguration: complete }),
    vscode.debug.registerDebugAdapterTrackerFactory("warpscope", { createDebugAdapterTracker: follow }),
    vscode.debug.onDidChangeActiveDebugSession(() => warps.changed.fire()),
    vscode.window.registerTreeDataProvider("warpscope.warps", warps),
    vscode.commands.registerCommand("warpscope.focus", focus),
  );
};
