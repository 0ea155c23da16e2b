"""The edition for browsers in a real one: browser_test.py SITE TEST."""

import random
import sys

import browser


def opens_without_the_barrier(b, site):
    b.open(site)
    b.widget("ripple.sync", "off")
    assert b.widget("ripple.size")["value"] in ("256", "256x256"), b.widget("ripple.size")
    b.widget("invitation.accept")
    assert "sync=off" in b.wait_for("a link", lambda: b.run("location.hash"))
    for absent in ("editor.open", "open", "lessons.button", "save", "device", "vsync"):
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


def main():
    site, test = sys.argv[1:]
    if why := browser.missing(site):
        print(why)
        sys.exit(77)
    with browser.Browser() as b:
        globals()[test](b, browser.serve(site))
        errors = [e for e in b.log() if "favicon" not in e]
        assert not errors, errors


main()
