#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "compute/device/device.h"
#include "experiments/launch/launch_plan.h"
#include "launches/arrays/array.h"
#include "launches/files/launch_file.h"

namespace warpscope::experiments {

/// The most bytes of one buffer.
inline constexpr std::uint64_t largest_buffer = std::uint64_t(4) << 30;

/// The sizes of a shape; each is 1 or more. Throws LaunchError that names `field`, also where an
/// element type of `element_bytes` would need more than largest_buffer.
std::vector<std::size_t> sizes(const std::vector<launches::Expression>& shape,
                               const launches::Names& scalars, std::size_t element_bytes,
                               const std::string& field);

/// An array of the type and of the shape filled as `fill` says; files are relative to `folder`.
/// Without a shape that of the file. Random numbers depend on the seed alone: Box-Muller over
/// splitmix64, equal on every machine up to the last bits of the math library. Throws LaunchError
/// that begins with `field`.
launches::Array filled(const launches::Fill& fill, const launches::ElementType& type,
                       const std::optional<std::vector<std::size_t>>& shape,
                       const launches::Names& scalars, const std::filesystem::path& folder,
                       const std::string& field);

/// The buffers of a launch file in the memory of a device, and in the same memory what each of them
/// holds when a frame begins.
class LaunchBuffers {
  public:
    /// No buffers.
    LaunchBuffers() = default;
    /// The buffers before the first frame. Throws LaunchError that names the field.
    LaunchBuffers(compute::Device& device, const LaunchPlan& plan, const launches::Names& names);

    bool empty() const { return buffers_.empty(); }
    bool has_sizes_of(const LaunchBuffers& other) const;
    const std::vector<std::size_t>& shape(std::size_t buffer) const {
        return buffers_[buffer].shape;
    }
    std::size_t bytes(std::size_t buffer) const { return buffers_[buffer].bytes; }
    /// The buffer that begins at an address; empty: none does.
    std::string name_at(std::uint64_t address) const;
    std::uint64_t address(std::size_t buffer) const { return buffers_[buffer].address; }
    compute::TextureHandle texture(const TextureArgument& argument) const {
        return *textures_.at(argument);
    }
    launches::Array download(std::size_t buffer) const;

    /// Fills the buffers for a frame, whose `names` those fills use that depend on the frame.
    void begin_frame(const launches::Names& names);
    /// The next frame begins with what this one left in the buffers that are kept.
    void keep_frame();

    /// What a frame begins with in the buffers that are kept, by their names.
    using Kept = std::map<std::string, launches::Array>;
    Kept kept() const;
    /// Leaves out a buffer that now has another type or shape.
    void set_kept(const Kept& kept);
    /// Takes over what a frame begins with in the buffers that are kept. `other` has these sizes.
    void take_kept(LaunchBuffers& other);

  private:
    using Memory = compute::Buffer<std::byte>;
    struct One {
        std::vector<std::size_t> shape;
        std::size_t bytes = 0;
        Memory memory;  ///< none for a variable of the source
        std::uint64_t address = 0;
        /// What a frame begins with: a byte everywhere, or these bytes.
        std::variant<std::uint8_t, Memory> start{};
    };

    One made(std::size_t buffer, const launches::Names& names);
    void make_textures();
    /// Whether the fill of a buffer names buffers, whose addresses it gets.
    bool has_addresses(std::size_t buffer) const;
    launches::Array start_array(std::size_t buffer, const launches::Names& names) const;
    /// `from` is an address.
    void set_start(One& one, std::uint64_t from);
    void set_start(One& one, const launches::Array& numbers);
    /// The memory for what a frame begins with, made where it has been a byte until now.
    Memory& start_memory(One& one);
    void check_kept(std::size_t buffer) const;
    bool is_kept(std::size_t buffer) const { return !plan_->file.buffers[buffer].keep.empty(); }

    compute::Device* device_ = nullptr;
    const LaunchPlan* plan_ = nullptr;
    std::vector<One> buffers_;  ///< in the order of the file
    std::map<TextureArgument, std::shared_ptr<const compute::TextureHandle>> textures_;
};

}  // namespace warpscope::experiments
