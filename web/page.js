// What the program asks of the page: its address, the clipboard, and words for people who do not see the canvas.
"use strict";
const note = document.getElementById("note"), canvas = document.getElementById("canvas");
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
  say(text) { document.getElementById("state").textContent = text; },
  fail(text) {
    note.hidden = false;
    canvas.hidden = true;
    note.textContent = text + " Load the page again, or use the app for Linux.";
  },
  drawn(frame) {
    if (!started) note.hidden = started = true;
    page.frames++;
    page.frame = frame;
  },
};

var Module = {
  canvas,
  print: (text) => console.log(text),
  printErr: (text) => console.warn(text),
  onAbort: (why) => page.fail("The program has ended: " + why + "."),
};

window.addEventListener("hashchange", () => location.reload());
canvas.addEventListener("webglcontextlost", () => page.fail("The browser has taken away the graphics of this page."));
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
  if (crossOriginIsolated) return start();
  const why = "Warpscope needs threads, which this browser gives only to pages by https or from this machine.";
  if (!isSecureContext || !navigator.serviceWorker) return page.fail(why);
  await navigator.serviceWorker.register("service_worker.js");
  await navigator.serviceWorker.ready;
  if (sessionStorage.reloaded) return page.fail(why);
  sessionStorage.reloaded = "yes";
  location.reload();
}
begin().catch((error) => page.fail(String(error)));
