#pragma once

#include <cstring>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "emulator/ptx_fixture.h"
#include "emulator/stepper/stepper.h"

namespace warpscope::emulator {

/// A launch of one of the app's kernels on its own machine. Each pointer argument is a buffer of
/// `floats` floats; `scalars` are the other arguments in their order.
class FrozenKernel {
  public:
    FrozenKernel(const std::string& file, const std::string& kernel, LaunchShape launch,
                 std::vector<std::uint32_t> scalars, LaunchSettings settings = {}, unsigned sms = 1,
                 std::size_t floats = 1 << 14)
        : machine(sms), module_(Module::parse(text_of(file), file)) {
        const Kernel* found = module_->find(kernel);
        if (!found) throw Error("no kernel " + kernel);
        std::vector<std::uint64_t> values;
        std::size_t next = 0;
        for (const Parameter& p : found->parameters)
            values.push_back(p.size == 8             ? std::uint64_t(new_buffer(floats))
                             : next < scalars.size() ? scalars[next++]
                                                     : 0);
        std::vector<const void*> arguments;
        for (const std::uint64_t& v : values) arguments.push_back(&v);
        frozen = Machine::freeze(*found, launch, arguments, settings);
    }

    /// The bytes of all buffers.
    std::vector<std::byte> memory() const {
        std::vector<std::byte> all;
        for (const auto& [data, bytes] : buffers_) all.insert(all.end(), data, data + bytes);
        return all;
    }

    Machine machine;
    FrozenLaunch frozen;

  private:
    static std::string text_of(const std::string& file) {
        std::ifstream in(std::string(WARPSCOPE_SOURCE_DIR) + "/kernels/ptx/" + file);
        std::stringstream text;
        text << in.rdbuf();
        return text.str();
    }
    void* new_buffer(std::size_t floats) {
        auto* p = static_cast<float*>(machine.memory().allocate(floats * sizeof(float)));
        for (std::size_t k = 0; k < floats; ++k) p[k] = float(k % 97) / 97 + float(buffers_.size());
        buffers_.push_back({reinterpret_cast<std::byte*>(p), floats * sizeof(float)});
        return p;
    }

    std::shared_ptr<const Module> module_;
    std::vector<std::pair<const std::byte*, std::size_t>> buffers_;
};

}  // namespace warpscope::emulator
