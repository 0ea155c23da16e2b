#include <fmt/format.h>

#include <utility>

#include "compute/device/sentences.h"
#include "compute/pick_ranks.h"
#include "ui/stage/engine.h"

namespace warpscope::ui {

using compute::DeviceKind;
using experiments::Snapshot;

std::unique_ptr<compute::Device> Engine::make_device(const std::string& wish,
                                                     const experiments::Entry& entry) const {
    auto device = pick_(wish, entry);
    device->set(run_);
    limit(*device);
    return device;
}

void Engine::set_device(const std::string& wish) {
    const auto change = [&] {
        auto fresh = make(scene_->entry(), make_device(wish, *scene_->entry()));
        fresh->experiment().set(values(experiment(), true));
        fresh->experiment().reset();
        put_on_show_alone(std::move(fresh));
        shown_.device_wish = wish;
        say(device().info().reason);
    };
    attempt(fmt::format("Staying on {}.", device().info().name), change, From::new_device);
}

/// Asking the driver takes time, so the first picture does not wait for it.
void Engine::list_devices() {
    shown_.devices = compute::rank_choices();
    ++version_;
}

/// The built-in kernels are back after edits, which run on one device. All ranks go on from there.
void Engine::use_ranks() {
    const auto change = [&] {
        const experiments::SharedEntry entry = scene_->entry();
        experiments::Running running{make_device(shown_.device_wish, *entry), nullptr};
        running.experiment = entry->make(*running.device);
        running.experiment->resume(scene_->snapshot());
        put_on_show(std::make_unique<Scene>(entry, std::move(running)));
    };
    if (!attempt("It computes on one device.", change, From::new_device))
        scene_->stay_without_ranks();
}

/// A lost device ends every experiment on it. What is left of several GPUs, or the emulator,
/// continues the one on show from its last snapshot.
void Engine::replace_lost_device(const std::string& error) {
    const compute::Exchange* const exchange = device().exchange();
    // The other processes wait for this one, and end with it.
    if (exchange && exchange->has_other_processes()) throw compute::DeviceLost(error);
    scene_->fail();
    const Snapshot last = scene_->snapshot();
    for (const std::string& wish : wishes_after_loss_(shown_.device_wish))
        if (continue_on(wish, last, error)) return;
    shown_.paused = true;
}

/// False: it failed too, and the message says why.
bool Engine::continue_on(const std::string& wish, const Snapshot& last, const std::string& error) {
    return attempt("Restart Warpscope.", [&] {
        const experiments::SharedEntry entry = scene_->entry();
        experiments::Running running{make_device(wish, *entry), nullptr};
        running.experiment = entry->make(*running.device);
        try {
            running.experiment->resume(last);
        } catch (const compute::DeviceLost&) {
            throw;
        } catch (const std::exception&) {
            set_all(*running.experiment, last.parameters);
            running.experiment->reset();
        }
        running.device->synchronize();
        shown_.lost_wish = shown_.lost_wish.value_or(shown_.device_wish);
        shown_.device_wish = wish;
        put_on_show_alone(std::make_unique<Scene>(entry, std::move(running)));
        const compute::DeviceInfo& info = device().info();
        say(fmt::format("{} {} continues. To use {} again, restart Warpscope.",
                        compute::sentence(error),
                        info.kind == DeviceKind::emulator ? "The emulator" : info.name,
                        info.kind == DeviceKind::emulator ? "the GPU" : "all GPUs"),
            Tone::error);
    });
}

}  // namespace warpscope::ui
