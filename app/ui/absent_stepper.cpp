// Built only while the emulator's own stepper is not there: a block that can't be opened.
#include "emulator/error.h"
#include "emulator/stepper.h"

namespace warpscope::emulator {

struct Stepper::State {
    FrozenLaunch launch;
    std::string error;
};

Stepper::Stepper(Machine&, FrozenLaunch, uint32_t) {
    throw std::runtime_error("there is no stepper yet");
}
Stepper::~Stepper() = default;
bool Stepper::step(std::optional<uint32_t>) {
    return false;
}
void Stepper::step_line(std::optional<uint32_t>) {}
void Stepper::step_barrier() {}
void Stepper::run(uint64_t) {}
void Stepper::seek(uint64_t) {}
void Stepper::back_line() {}
void Stepper::back_barrier() {}
const FrozenLaunch& Stepper::launch() const {
    return state_->launch;
}
uint32_t Stepper::block() const {
    return 0;
}
uint64_t Stepper::position() const {
    return 0;
}
std::span<const Step> Stepper::history() const {
    return {};
}
std::span<const BarrierWait> Stepper::waits() const {
    return {};
}
Stepper::End Stepper::end() const {
    return End::open;
}
const std::string& Stepper::error() const {
    return state_->error;
}
uint32_t Stepper::epoch() const {
    return 0;
}
std::optional<uint32_t> Stepper::next_warp() const {
    return {};
}
uint32_t Stepper::warps() const {
    return 0;
}
WarpView Stepper::warp(uint32_t) const {
    return {};
}
uint64_t Stepper::value(const RegisterInfo&, uint32_t, unsigned) const {
    return 0;
}
std::span<const std::byte> Stepper::shared_memory() const {
    return {};
}
std::span<const WordView> Stepper::words() const {
    return {};
}
std::vector<Finding> Stepper::findings() const {
    return {};
}
std::optional<AccessView> Stepper::shared_access(uint32_t) const {
    return {};
}
std::optional<AccessView> Stepper::global_access(uint32_t) const {
    return {};
}

}  // namespace warpscope::emulator
