// What the program asks of the page: its address, the clipboard, files, and words for people who do not see the canvas.
"use strict";
const note = document.getElementById("note"), canvas = document.getElementById("canvas");
const largest = 64 << 20; // bytes of a file from elsewhere
let started = false;

const page = {
  frames: 0, // of the window, drawn so far
  frame: 0, // of the experiment
  width() { return innerWidth; },
  height() { return innerHeight - document.getElementById("app").offsetHeight; },
  address() { return location.href.split("#")[0]; },
  link() { return location.hash.slice(1); },
  showLink(link) { history.replaceState(null, "", "#" + link); },
  copy(text) { navigator.clipboard?.writeText(text).catch(() => {}); },
  opens() { return new URLSearchParams(location.search).has("open"); },
  prefersLight() { return matchMedia("(prefers-color-scheme: light)").matches; },
  light(name) { document.body.className = name; },
  say(text) { document.getElementById("state").textContent = text; },
  fail(text) {
    note.hidden = false;
    canvas.hidden = true;
    note.textContent = text;
    const picture = note.appendChild(document.createElement("img"));
    picture.src = "toggle.png";
    picture.alt = "The ripple without __syncthreads(), torn, and with it";
  },
  drawn(frame) {
    if (!started && page.opens()) openAddress(new URLSearchParams(location.search).get("open"));
    if (!started) note.hidden = started = true;
    page.frames++;
    page.frame = frame;
  },
};

var Module = {
  canvas,
  print: (text) => console.log(text),
  printErr: (text) => console.warn(text),
  onAbort: (why) => page.fail("The program has ended: " + why + ". Load the page again."),
};

window.addEventListener("hashchange", () => location.reload());
canvas.addEventListener("webglcontextlost", () => page.fail("The browser has taken away the graphics of this page. Load it again."));
// A capture or a launch file is dropped on the canvas, where the program takes it, or is at an address: ?open=https://…
const open = (path, problem) => Module.ccall("warpscope_open", null, ["string", "string"], [path, problem]);
async function openAddress(text) {
  const name = text.split(/[?#]/)[0].split("/").pop() || "file";
  try {
    const answer = await fetch(new URL(text, location.href), { credentials: "omit" }).catch(() => {
      throw new Error(`${name} was not received from ${text}: there is no such server, or it does not allow pages of others to read (CORS).`);
    });
    if (!answer.ok) throw new Error(`${name} was not received from ${text}: the server answers ${answer.status}.`);
    const parts = [], reader = answer.body.getReader();
    for (let bytes = 0, part; !(part = await reader.read()).done; parts.push(part.value))
      if ((bytes += part.value.length) > largest) throw new Error(`${name} is too large for a page. Open it with the app for Linux.`);
    FS.writeFile("/tmp/" + name, new Uint8Array(await new Blob(parts).arrayBuffer()));
    open("/tmp/" + name, "");
  } catch (error) {
    open("", error.message);
  }
}

// Keys of the window must not scroll, search or leave the page; Tab goes through the window's widgets. A key that writes a
// character must come through as one.
window.addEventListener("keydown", (event) => {
  const control = event.ctrlKey || event.metaKey;
  const ours = control ? "pfgbjz+-0=".includes(event.key.toLowerCase()) : event.key.length > 1 && event.key !== "F5" && event.key !== "F12";
  if (ours) event.preventDefault();
}, true);
window.addEventListener("keypress", (event) => event.preventDefault());

function start() {
  if (!document.createElement("canvas").getContext("webgl2"))
    return page.fail("Warpscope draws with WebGL 2, which this browser does not have or does not allow.");
  const script = document.createElement("script");
  script.src = "warpscope.js";
  script.onerror = () => page.fail("warpscope.js could not be loaded.");
  document.body.append(script);
  canvas.focus();
}

// Threads need two headers. Where the server does not send them, a service worker adds them, and the page loads once more.
async function begin() {
  const threads = "Warpscope needs threads, which a browser gives only to pages ";
  if (crossOriginIsolated) {
    sessionStorage.removeItem("reloaded");
    return start();
  }
  if (location.protocol === "file:")
    return page.fail(threads + "of a server. In the folder of this file, run python3 -m http.server and open http://127.0.0.1:8000.");
  if (!isSecureContext) return page.fail(threads + "by https or from this machine.");
  const refused = threads + "with the headers Cross-Origin-Opener-Policy and Cross-Origin-Embedder-Policy. Its server does not send them, " +
    "and this browser allows no service worker that adds them, as in a private window.";
  if (!navigator.serviceWorker || sessionStorage.getItem("reloaded")) return page.fail(refused);
  await navigator.serviceWorker.register("service_worker.js").catch(() => page.fail(refused));
  await navigator.serviceWorker.ready;
  sessionStorage.setItem("reloaded", "yes");
  location.reload();
}
begin().catch((error) => page.fail(String(error)));
