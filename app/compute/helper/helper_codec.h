#pragma once

#include <nlohmann/json.hpp>
#include <tuple>
#include <vector>

#include "compiler/nvrtc.h"
#include "compute/device/device.h"
#include "compute/helper/helper_wire.h"

// Values in the frames of helper_wire.h. Only sources include this file: the JSON library takes
// long to compile.

namespace warpscope::compiler {
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Diagnostic, line, column, severity, text)
}

namespace warpscope::emulator {
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Texture, memory, width, height, depth, slices_are, pitch,
                                   channels, bytes, numbers, linear, normalized_coordinates,
                                   normalized_numbers, read_by_index, address)
void to_json(nlohmann::json& json, const LaunchShape& shape);
void from_json(const nlohmann::json& json, LaunchShape& shape);
}  // namespace warpscope::emulator

namespace warpscope::compute {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(DeviceInfo, kind, name, reason, ordinal, pci_bus_id,
                                   compute_capability, multiprocessors, cache_bytes, memory_bytes,
                                   max_block_threads, max_shared_bytes)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(RunSettings, math, schedule, seed, barriers, landing,
                                   waits_for_compiler)

/// Throw WireError if a value of an enum does not exist.
template <class Value>
void check(const Value&) {}
void check(Math math);
void check(const DeviceInfo& info);
void check(const RunSettings& settings);
void check(const emulator::Texture& texture);
void check(const std::vector<compiler::Diagnostic>& diagnostics);

void put_array(WireWriter& to, const nlohmann::json& array);
/// Throws WireError if no array of so many values is next.
nlohmann::json get_array(WireReader& from, std::size_t count);

/// Appends values, as one array.
template <class... Values>
WireWriter& put(WireWriter& to, const Values&... values) {
    put_array(to, nlohmann::json::array({nlohmann::json(values)...}));
    return to;
}

/// A frame that begins with these values.
template <class Word, class... Values>
WireWriter frame_of(Word word, const Values&... values) {
    WireWriter frame(word);
    put(frame, values...);
    return frame;
}

/// Reads what put() has appended: one value, or a tuple of them. Throws WireError for others.
template <class First, class... Rest>
auto get(WireReader& from) {
    try {
        const auto read =
            get_array(from, 1 + sizeof...(Rest)).template get<std::tuple<First, Rest...>>();
        std::apply([](const auto&... values) { (check(values), ...); }, read);
        if constexpr (sizeof...(Rest) == 0)
            return std::get<0>(read);
        else
            return read;
    } catch (const nlohmann::json::exception&) {
        throw WireError("a value has a wrong type");
    }
}

// Values with long texts, which are not in an array: the library reads texts byte by byte.

void put(WireWriter& to, const KernelEdits& edits);
KernelEdits kernel_edits(WireReader& from);

void put(WireWriter& to, const compiler::Request& request);
compiler::Request compile_request(WireReader& from);

void put(WireWriter& to, const compiler::Compiled& compiled);
compiler::Compiled compiled(WireReader& from);

/// Throws the exception that the answer reports; returns if the answer is `done`.
void throw_if_failed(WireReader& answer);
/// The answer that reports the current exception. Rethrows a WireError.
WireWriter failed_answer();

}  // namespace warpscope::compute
