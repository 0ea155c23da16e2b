#include <fmt/format.h>

#include "experiments/host/host_calls.h"

// Calls that make arrays, textures and surfaces.
namespace warpscope::experiments {

bool HostCalls::read_texture_call(std::string_view call, const std::vector<std::string>& given) {
    // "& name", or a parameter that got the address of the variable.
    const auto named = [&](std::size_t argument) {
        std::string name = own_name(name_in(given[argument]));
        if (given[argument].starts_with("& ")) return name;
        for (int depth = 0; depth < 8; ++depth) {
            const auto value = program_.value_of(name);
            if (!value || !value->starts_with("& ")) break;
            name = name_in(*value);
        }
        return name;
    };
    if (call == "cudaMallocArray" && given.size() >= 3) {
        const std::string array = named(0);
        const std::string height = given.size() > 3 ? given[3] : "0";
        program_.values[array + "$width"] = given[2];
        program_.values[array + "$height"] = height;
        program_.values[array + "$format"] = named(1);
        program_.arrays[array] = {};
    } else if (call.starts_with("cudaMemcpyToArray") || call.starts_with("cudaMemcpy2DToArray")) {
        if (given.size() > 4) copy(given[0], given[3]);
    } else if (call == "cudaCreateTextureObject" && given.size() >= 3) {
        program_.textures[named(0)] = texture_of(named(1), named(2));
    } else if (call == "cudaCreateSurfaceObject") {
        program_.textures[named(0)] = texture_of(named(1), "");
    } else {
        return false;
    }
    return true;
}

HostTexture HostCalls::texture_of(const std::string& resource,
                                  const std::string& description) const {
    HostTexture texture;
    const auto value = [&](const std::string& name) {
        const auto known = program_.value_of(resource + "$res$" + name);
        return known.value_or("");
    };
    const std::string kind = program_.value_of(resource + "$resType").value_or("");
    if (kind.ends_with("Array")) {
        texture.array = first_name(program_, value("array$array"));
        const std::string height = texture.array + "$height";
        texture.extents = {texture.array + "$width"};
        if (program_.value_of(height).value_or("0") != "0") texture.extents.push_back(height);
        texture.format = first_name(program_, texture.array + "$format");
    } else if (kind.ends_with("Pitch2D")) {
        texture.array = value("pitch2D$devPtr");
        texture.extents = {value("pitch2D$width"), value("pitch2D$height")};
        texture.format = resource + "$res$pitch2D$desc";
    } else if (kind.ends_with("Linear")) {
        texture.array = value("linear$devPtr");
        texture.format = resource + "$res$linear$desc";
    }
    texture.format = program_.value_of(texture.format).value_or("");
    const std::string begin = description + "$";
    for (auto one = program_.values.lower_bound(begin);
         !description.empty() && one != program_.values.end() && one->first.starts_with(begin);
         ++one)
        texture.settings[one->first.substr(begin.size())] = one->second;
    return texture;
}

}  // namespace warpscope::experiments
