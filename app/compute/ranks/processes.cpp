#include "compute/ranks/processes.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <vector>

#include "compute/device/device.h"
#include "compute/libraries/own_libraries.h"

namespace warpscope::compute {
namespace {

constexpr const char* library_name = "libwarpscope_mpi.so";

std::optional<int> number_in(const char* variable) {
    const char* const text = std::getenv(variable);
    if (!text || !*text) return {};
    char* end = nullptr;
    const long value = std::strtol(text, &end, 10);
    if (*end != '\0' || value < 0 || value > 1'000'000) return {};
    return int(value);
}

}  // namespace

ProcessPlace place_of_process() {
    // Open MPI uses the first pair of variables, MPICH and Slurm use the second.
    for (const auto& [rank, size] :
         {std::pair{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"}, {"PMI_RANK", "PMI_SIZE"}}) {
        const auto index = number_in(rank), count = number_in(size);
        if (index && count && *index < *count) return {*index, *count};
    }
    return {};
}

std::shared_ptr<Processes> join_processes(const FaultHandler& on_fault) {
    const int count = place_of_process().count;
    if (count < 2) return nullptr;
    std::string why = "it is not there";
    void* library = nullptr;
    for (const std::filesystem::path& file : places_of_library(library_name)) {
        if (!library && std::filesystem::exists(file)) {
            // The symbols are global, because Open MPI loads parts of itself that need them. The
            // library is never unloaded.
            library = ::dlopen(file.c_str(), RTLD_NOW | RTLD_GLOBAL);
            if (!library) why = ::dlerror();
        }
    }
    using Join = Processes*(const FaultHandler&);
    auto* const join =
        library ? reinterpret_cast<Join*>(::dlsym(library, "warpscope_join_mpi")) : nullptr;
    if (!join)
        throw DeviceError(fmt::format(
            "mpirun has started {} processes, and {} can't be loaded: {}; install openmpi-bin (to "
            "build Warpscope with MPI: libopenmpi-dev), or start one process",
            count, library_name, why));
    return std::shared_ptr<Processes>(join(on_fault));
}

}  // namespace warpscope::compute
