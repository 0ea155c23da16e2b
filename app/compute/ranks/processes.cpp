#include "compute/ranks/processes.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "compute/device/device.h"
#include "compute/libraries/installed_files.h"

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

namespace {

/// Present, in the form that is sent.
struct Entry {
    std::uint64_t devices = 0, gpus = 0, memory_bytes = 0;
    std::array<std::uint64_t, 16> gpu_hashes{};  ///< hashes of the host and the bus id; 0: no GPU
    std::array<char, 512> why_none{};
};

std::uint64_t hash_of_gpu(const std::string& pci_bus_id) {
    std::array<char, 256> host{};
    ::gethostname(host.data(), host.size() - 1);
    const std::uint64_t hash = std::hash<std::string>()(host.data() + (" " + pci_bus_id));
    return hash ? hash : 1;
}

Entry entry_of(const Present& own) {
    Entry entry{.devices = own.devices.size()};
    own.why_none.copy(entry.why_none.data(), entry.why_none.size() - 1);
    for (const Device* device : own.devices) {
        const bool gpu = device->info().kind == DeviceKind::cuda;
        if (gpu && entry.gpus < entry.gpu_hashes.size())
            entry.gpu_hashes[entry.gpus] = hash_of_gpu(device->info().pci_bus_id);
        if (gpu) ++entry.gpus;
        const std::uint64_t memory = device->info().memory_bytes;
        entry.memory_bytes = entry.memory_bytes ? std::min(entry.memory_bytes, memory) : memory;
    }
    return entry;
}

std::vector<Entry> entries_of_all(Processes* processes, const Present& own) {
    const Entry entry = entry_of(own);
    if (!processes) return {entry};
    std::vector<Entry> all(std::size_t(processes->count()));
    std::vector<std::size_t> bounds;
    for (std::size_t p = 0; p <= all.size(); ++p) bounds.push_back(p * sizeof(Entry));
    all[std::size_t(processes->index())] = entry;
    processes->all_gather(reinterpret_cast<std::byte*>(all.data()), bounds);
    return all;
}

struct Message {
    Call call;
    std::vector<std::byte> content;
};

Message hear(Processes& processes) {
    std::uint64_t size = 0;
    processes.broadcast(std::as_writable_bytes(std::span(&size, 1)));
    std::vector<std::byte> bytes(size);
    processes.broadcast(bytes);
    Message message;
    std::memcpy(&message.call, bytes.data(), sizeof(Call));
    message.content.assign(bytes.begin() + sizeof(Call), bytes.end());
    return message;
}

}  // namespace

Roll call_roll(Processes* processes, const Present& own) {
    const std::vector<Entry> all = entries_of_all(processes, own);
    Roll roll{{0}, std::size_t(all.front().memory_bytes)};
    std::set<std::uint64_t> gpus;
    for (std::size_t p = 0; p < all.size(); ++p) {
        const Entry& entry = all[p];
        const auto refuse = [&](std::string_view why) {
            throw Refused(fmt::format("{}: {}", processes->name(int(p)), why));
        };
        if (entry.devices == 0) refuse(entry.why_none.data());
        if ((entry.gpus > 0) != (all.front().gpus > 0))
            refuse("some processes have a GPU and others have none: add --device emulator");
        for (const std::uint64_t gpu : entry.gpu_hashes)
            if (processes && gpu && !gpus.insert(gpu).second)
                refuse(
                    "another rank uses its GPU too, and NCCL needs one for each: start fewer, or "
                    "add --device cuda:all or emulator");
        roll.first_ranks.push_back(roll.first_ranks.back() + entry.devices);
        roll.memory_bytes = std::min<std::size_t>(roll.memory_bytes, entry.memory_bytes);
    }
    return roll;
}

void tell(Processes& processes, const Call& call, std::span<const std::byte> content) {
    std::uint64_t size = sizeof call + content.size();
    processes.broadcast(std::as_writable_bytes(std::span(&size, 1)));
    std::vector<std::byte> bytes(size);
    std::memcpy(bytes.data(), &call, sizeof call);
    std::ranges::copy(content, bytes.begin() + sizeof call);
    processes.broadcast(bytes);
}

void receive_calls(
    Processes& processes,
    const std::function<std::unique_ptr<Device>(const std::string& wish, std::uint32_t)>& open,
    const std::function<std::unique_ptr<CallReceiver>(Device&)>& make_receiver) {
    struct Open {
        std::unique_ptr<Device> device;
        std::unique_ptr<CallReceiver> receiver;  ///< destroyed before its device
    };
    std::map<std::uint32_t, Open> exchanges;
    for (;;) {
        const auto [call, content] = hear(processes);
        switch (call.task) {
            case Call::Task::open:
                try {
                    const auto* words = reinterpret_cast<const char*>(content.data());
                    auto device = open(std::string(words, content.size()), call.exchange);
                    auto receiver = make_receiver(*device);
                    exchanges[call.exchange] = {std::move(device), std::move(receiver)};
                } catch (const Refused&) {
                    // Process 0 gets this error too, and reports it.
                }
                break;
            case Call::Task::close:
                exchanges.erase(call.exchange);
                break;
            case Call::Task::carry_out:
                exchanges.at(call.exchange).receiver->carry_out(content);
                break;
            case Call::Task::end:
                return;
        }
    }
}

}  // namespace warpscope::compute
