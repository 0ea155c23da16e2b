// Starts `warpscope --dap` for a debug session of the type "warpscope". All else is in Warpscope.
const vscode = require("vscode");

exports.activate = (context) => {
  const start = () => {
    const program = vscode.workspace.getConfiguration("warpscope").get("program");
    return new vscode.DebugAdapterExecutable(program, ["--dap"]);
  };
  const complete = (folder, configuration) => {
    const file = vscode.window.activeTextEditor?.document.fileName;
    if (configuration.type || !file) return configuration;
    return { type: "warpscope", request: "launch", name: "Warpscope", program: file };
  };
  context.subscriptions.push(
    vscode.debug.registerDebugAdapterDescriptorFactory("warpscope", { createDebugAdapterDescriptor: start }),
    vscode.debug.registerDebugConfigurationProvider("warpscope", { resolveDebugConfiguration: complete }),
  );
};
