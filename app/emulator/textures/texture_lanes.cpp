#include "emulator/textures/texture_lanes.h"

#include <algorithm>
#include <bit>

namespace warpscope::emulator {

std::array<std::uint32_t, 3> TextureLanes::coordinates(unsigned lane) const {
    if (form_.coordinates() == 1) return {w_.get<std::uint32_t>(place_, lane), 0, 0};
    const auto both = w_.get<std::uint64_t>(place_, lane);
    const auto third =
        form_.coordinates() == 2 ? 0 : std::uint32_t(w_.get<std::uint64_t>(handle_, lane) >> 32);
    return {std::uint32_t(both), std::uint32_t(both >> 32), third};
}

TextureReads TextureLanes::reads(unsigned lane, const Texture& texture) const {
    const std::array<std::uint32_t, 3> c = coordinates(lane);
    const auto index = [&](unsigned k) { return std::int64_t(std::int32_t(c[k])); };
    const auto number = [&](unsigned k) { return std::bit_cast<float>(c[k]); };
    if (form_.has_layers()) {  // behind the number of a layer come the coordinates in it
        const Texture layer = texture.slice(c[0]);
        return form_.integer_coordinates ? layer.reads_of_index(index(1), index(2), 0)
                                         : layer.reads_at(number(1), number(2));
    }
    if (form_.integer_coordinates) return texture.reads_of_index(index(0), index(1), index(2));
    return form_.geometry == TextureGeometry::cube
               ? texture.reads_of_cube(number(0), number(1), number(2))
               : texture.reads_at(number(0), number(1), number(2));
}

TextureLanes::Place TextureLanes::place(unsigned lane, const Texture& surface) const {
    const std::array<std::uint32_t, 3> c = coordinates(lane);
    const unsigned layers = form_.has_layers();
    const std::int64_t bytes = place_bytes();
    const std::int64_t row_bytes = std::int64_t(surface.width) * surface.element_bytes();
    const auto coordinate = [&](unsigned k) { return std::int64_t(std::int32_t(c[k])); };
    Place p{coordinate(layers), coordinate(layers + 1), coordinate(layers ? 0 : 2), false, 0};
    p.outside = p.byte < 0 || p.byte + bytes > row_bytes || p.row < 0 || p.row >= surface.rows() ||
                p.slice < 0 || p.slice >= surface.slices();
    const auto nearest = [](std::int64_t at, std::int64_t end) {
        return std::uint64_t(std::clamp<std::int64_t>(at, 0, std::max<std::int64_t>(0, end)));
    };
    p.address = surface.memory + nearest(p.slice, surface.slices() - 1) * surface.slice_bytes() +
                nearest(p.row, surface.rows() - 1) * surface.pitch +
                nearest(p.byte, row_bytes - bytes);
    return p;
}

TextureReads TextureLanes::bytes(unsigned lane, const Texture& surface) const {
    TextureReads found;
    const Place p = place(lane, surface);
    if (!p.outside || form_.outside == TextureForm::Outside::clamp) found.add(p.address, 1);
    return found;
}

}  // namespace warpscope::emulator
