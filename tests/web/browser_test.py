"""The edition for browsers in a real one: browser_test.py SITE chromium|firefox TEST."""

import base64
import os
import random
import sys
import tempfile

import browser


def opens_without_the_barrier(b, site):
    b.open(site)
    b.widget("ripple.sync", "off")
    assert b.widget("ripple.size")["value"] in ("256", "256x256"), b.widget("ripple.size")
    b.widget("invitation.accept")
    assert "sync=off" in b.wait_for("a link", lambda: b.run("location.hash"))
    for absent in ("open", "editor.save", "save", "device", "vsync"):
        assert absent not in b.widgets(), absent
    b.wait_for("the words of the page", lambda: "Ripple" in b.run("document.getElementById('state').textContent"))


def the_switch_heals_the_picture(b, site):
    b.open(site)
    b.click("ripple.sync")
    b.widget("ripple.sync", "on")
    b.press("s")
    b.widget("ripple.sync", "off")
    b.click("transport.microscope")
    b.widget("transport.microscope", "on")
    b.widget("microscope.step")
    b.wait_for("a link", lambda: "microscope=" in b.run("location.hash"))


def a_link_opens_its_state(b, site):
    b.open(site + "#ripple?sync=off&size=512&run.schedule=reverse&microscope=3,2@20")
    b.widget("ripple.size", "512")
    # The page says its state again.
    b.wait_for("the place", lambda: b.run("location.hash").endswith("run.schedule=reverse&microscope=3,2@20"))


def hostile_links_open_something(b, site):
    letters = "ripple?sync=off&size=%microscope=@,-9\"<>é\0"
    chance = random.Random(1)
    links = ["%", "?", "nbody?bodies=-1", "ripple?size=1e9&size=999999999999", "ripple?microscope=-1,4294967296@18446744073709551616",
             "../../etc/passwd", "launch?file=/etc/passwd"]
    links += ["".join(chance.choice(letters) for _ in range(60)) for _ in range(5)]
    for link in links:
        b.open("about:blank")
        b.open(site + "#" + link)
        b.widget("transport.pause")
        assert b.run("document.getElementById('note').hidden"), link


def lessons_are_done_by_the_marks(b, site):
    """The marks to click in each lesson of the page."""
    lessons = {2: [34], 3: [7, 9], 4: [12], 5: [9, 13], 6: [8]}
    b.ask("/window/rect", {"width": 1280, "height": 1400})  # so that the whole column is in sight
    b.open(site)
    b.widget("ripple.sync", "off")
    b.press("l")
    b.click("lessons:1")
    b.click("ripple.sync")
    b.click("race")
    b.click("finding.0.0")
    b.widget("lesson.passed", "yes")
    for lines in lessons.values():
        b.click("lesson.next")
        b.widget("lesson.passed", "no")
        for line in lines:
            before = b.widget(f"editor.barrier.{line}")["value"]
            b.click(f"editor.barrier.{line}")
            b.wait_for("the mark", lambda: b.widget(f"editor.barrier.{line}")["value"] != before)
        b.widget("lesson.passed", "yes")


def only_barriers_can_be_changed(b, site):
    b.open(site + "#dot")
    b.widget("transport.pause")
    b.press("e")
    verdict = b.widget("race")["value"]
    b.click("editor.barrier.28")
    b.widget("editor.barrier.28", "out")
    b.wait_for("the race", lambda: b.widget("race")["value"] != verdict)
    b.click("editor.barrier.28")
    b.wait_for("no race", lambda: b.widget("race")["value"] == verdict)
    b.click("editor.text")
    b.press("x")
    assert "A page has no compiler" in b.widget("editor.diagnostic.0")["value"]


CAPTURES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../fuzz/corpus/capture")


def shows_the_capture(b):
    b.wait_for("the launch", lambda: "add_one.launch.json" in b.run("location.hash"))
    b.wait_for("its checks", lambda: "No race found" in b.run("document.getElementById('state').textContent"))


def a_capture_opens_by_its_address(b, site):
    b.open(site + "?open=" + browser.serve(CAPTURES, shared=True) + "program.wslaunch#x?microscope=0@2")
    shows_the_capture(b)
    b.wait_for("the microscope", lambda: "microscope=0" in b.run("location.hash"))


def a_dropped_capture_opens(b, site):
    b.open(site)
    b.widget("ripple.sync")
    with open(os.path.join(CAPTURES, "program.wslaunch"), "rb") as file:
        text = base64.b64encode(file.read()).decode()
    b.run(f"""(() => {{
        const moved = new DataTransfer();
        moved.items.add(new File([Uint8Array.from(atob("{text}"), (c) => c.charCodeAt(0))], "race.wslaunch"));
        canvas.dispatchEvent(new DragEvent("drop", {{ dataTransfer: moved, bubbles: true, cancelable: true }}));
    }})()""")
    shows_the_capture(b)


def a_file_that_is_not_received_or_is_broken_is_refused(b, site):
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "broken.wslaunch"), "wb") as file:
            file.write(b"PK" + random.Random(1).randbytes(1000))
        shared = browser.serve(folder, shared=True)
        for address, words in {browser.serve(CAPTURES) + "program.wslaunch": "(CORS)", shared + "absent.wslaunch": "answers 404",
                               shared + "broken.wslaunch": "no archive of a capture"}.items():
            b.open("about:blank")
            b.open(site + "?open=" + address)
            b.wait_for(words, lambda: words in b.widgets().get("message", {}).get("value", ""))
            b.widget("ripple.sync", "off")


def lost_graphics_are_told(b, site):
    b.open(site)
    b.widget("ripple.sync")
    b.run("""canvas.getContext("webgl2").getExtension("WEBGL_lose_context").loseContext()""")
    b.wait_for("the sentence", lambda: "taken away the graphics" in b.run("document.getElementById('note').innerText"))


def main():
    site, name, test = sys.argv[1:]
    if why := browser.missing(site, ["firefox-esr", "Xvfb"] if name == "firefox" else ["chromedriver"]):
        print(why)
        sys.exit(77)
    with browser.Firefox() if name == "firefox" else browser.Browser() as b:
        globals()[test](b, browser.serve(site))
        errors = [] if "refused" in test else [e for e in b.log() if "favicon" not in e]
        assert not errors, errors


main()
