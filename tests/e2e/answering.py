"""The window answers while a frame is computed that does not end during the test.

usage: answering.py PROGRAM [Answering.NAME]
"""
import os
import signal

from driver import wait_for
from scenario import BODIES, RIPPLE, Scenario, main

# 2^36 interactions a frame: minutes on two cores.
MANY = "262144"
ENDLESS = ["--experiment", "nbody", "--set", f"nbody.bodies={MANY}", "--set", "nbody.kernel=float3"]


def first_frame(words):
    return words.startswith("Frame 1 ·")


class Answering(Scenario):
    def setUp(self):
        """The app computes on two cores at most, however many the machine has."""
        cores = os.sched_getaffinity(0)
        self.addCleanup(os.sched_setaffinity, 0, cores)
        os.sched_setaffinity(0, sorted(cores)[:2])
        super().setUp()

    def test_presses_and_keys_arrive_while_a_frame_is_computed(self):
        app = self.start(*ENDLESS)
        app.wait_value("work", first_frame)
        for tab in ("counters", "findings", "timings"):
            app.click(f"dock.{tab}")
            app.park()
            app.wait_value(f"dock.{tab}", "on")
        app.type_into("nbody.seed", "12345")
        app.wait_value("nbody.seed", "12345")
        app.click("nbody.seed")
        app.key(*["BackSpace"] * 4)
        app.display.xdotool("type", "7")
        app.wait_value("nbody.seed", "7")
        self.assertEqual(app.frame(), 0)

    def test_esc_cancels_a_frame_and_brings_the_last_good_state_back(self):
        app = self.start(*BODIES)
        app.wait_value("transport.frame", lambda value: int(value) > 2)
        app.type_into("nbody.bodies", MANY)
        app.click("cost.apply")
        app.wait_value("work", first_frame)
        app.key("Escape")
        app.wait_value("nbody.bodies", "512")
        self.assertIn("Cancelled", app.value("message"))
        self.assertGreater(app.frame(), 2)
        frame = app.frame()
        app.key("space")
        wait_for("further frames", lambda: app.frame() > frame)

    def test_the_button_cancels_as_well(self):
        app = self.start(*BODIES)
        app.wait_value("transport.frame", lambda value: int(value) > 2)
        app.type_into("nbody.bodies", MANY)
        app.click("cost.apply")
        app.wait_value("work", first_frame)
        app.click("work.cancel")
        app.wait_value("nbody.bodies", "512")

    def test_a_costly_change_asks_first(self):
        app = self.start(*BODIES)
        app.wait_value("transport.frame", lambda value: int(value) > 2)
        app.type_into("nbody.bodies", MANY)
        app.wait_value("cost", lambda value: value.startswith("The next frame takes about"))
        app.key("Escape")
        wait_for("the end of the question", lambda: "cost" not in app.widgets())
        self.assertEqual(app.value("nbody.bodies"), "512")
        frame = app.frame()
        wait_for("further frames", lambda: app.frame() > frame)
        app.type_into("nbody.bodies", MANY)
        app.click("cost.paused")
        app.wait_value("nbody.bodies", MANY)
        app.wait_value("transport.pause", "on")
        app.wait_value("transport.frame", "0")

    def test_after_a_run_without_a_first_frame_the_next_one_waits(self):
        app = self.start(*ENDLESS)
        app.wait_value("work", first_frame)
        self.assertEqual(app.end(signal.SIGKILL), -signal.SIGKILL)
        app = self.start(*ENDLESS)
        app.wait_value("offer", lambda value: True)
        self.assertEqual(app.frame(), 0)
        app.wait_value("transport.pause", "on")
        app.click("offer")
        app.wait_value("transport.pause", "off")

    def test_sigterm_saves_the_settings_and_ends_by_the_signal(self):
        app = self.start(*RIPPLE)
        app.click("ripple.sync")
        app.wait_value("ripple.sync", "off")
        self.assertEqual(app.end(signal.SIGTERM), -signal.SIGTERM)
        app = self.start()
        app.wait_value("ripple.sync", "off")
        app.wait_value("ripple.size", "256")

    def test_the_window_closes_at_once_while_a_frame_is_computed(self):
        app = self.start(*ENDLESS)
        app.wait_value("work", first_frame)
        self.assertEqual(app.quit(), 0)


if __name__ == "__main__":
    main()
