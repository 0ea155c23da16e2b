#include "compute/ranks/processes.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <vector>

#include "compute/device/device.h"

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

/// Where the library may be: beside the program, or in the folder of an installation.
std::vector<std::string> places() {
    std::error_code none;
    const auto folder = std::filesystem::read_symlink("/proc/self/exe", none).parent_path();
    return {folder / library_name, folder / "../lib/warpscope" / library_name};
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
    for (const std::string& file : places()) {
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
