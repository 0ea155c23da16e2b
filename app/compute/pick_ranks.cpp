#include "compute/pick_ranks.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <stdexcept>
#include <string>
#include <vector>

#include "compute/cuda/cuda_check.h"
#include "compute/cuda/cuda_device.h"
#include "compute/device/sentences.h"
#include "compute/pick_device.h"
#include "compute/ranks/nccl_exchange.h"

namespace warpscope::compute {
namespace {

/// The GPUs of "cuda:0,1"; empty for any other wish.
std::vector<int> listed(std::string_view wish) {
    std::vector<int> gpus;
    if (!wish.starts_with("cuda:") || wish.find(',') == wish.npos) return gpus;
    for (std::string_view rest = wish.substr(5);; rest.remove_prefix(1)) {
        int gpu = -1;
        const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), gpu);
        rest.remove_prefix(std::size_t(end - rest.data()));
        const bool twice = std::ranges::find(gpus, gpu) != gpus.end();
        if (error != std::errc() || gpu < 0 || twice || (!rest.empty() && rest.front() != ','))
            throw std::invalid_argument(fmt::format(
                "device \"{}\": write different GPUs with commas, cuda:0,1, or cuda:all", wish));
        gpus.push_back(gpu);
        if (rest.empty()) return gpus;
    }
}

std::vector<int> all_gpus() {
    std::vector<int> gpus;
    for (int gpu = 0; gpu < survey_cuda().devices; ++gpu) gpus.push_back(gpu);
    return gpus;
}

/// The GPUs of this host that are for this process.
std::vector<int> own_part(const std::vector<int>& gpus, const Processes& processes) {
    if (gpus.size() < std::size_t(processes.count_on_host()))
        throw DeviceError(
            fmt::format("{} processes share {} on this host, and NCCL needs one for "
                        "each: start fewer, or add --device emulator",
                        processes.count_on_host(), plural(gpus.size(), "GPU")));
    std::vector<int> own;
    for (std::size_t i = 0; i < gpus.size(); ++i)
        if (int(i) % processes.count_on_host() == processes.index_on_host()) own.push_back(gpus[i]);
    return own;
}

/// The GPUs that this process uses; empty: pick_device() takes the wish.
std::vector<int> gpus_of(std::string_view wish, const Processes* processes) {
    std::vector<int> gpus = listed(wish);
    const bool any = wish == "auto" || wish == "cuda";
    if (wish == "cuda:all" || (processes && any)) gpus = all_gpus();
    if (!processes || gpus.empty()) return gpus;
    return own_part(gpus, *processes);
}

}  // namespace

std::unique_ptr<Device> pick_ranks(std::string_view wish, std::shared_ptr<Processes> processes) {
    const std::vector<int> gpus = gpus_of(wish, processes.get());
    const auto gpu_at = [&](std::size_t i) { return pick_device(fmt::format("cuda:{}", gpus[i])); };
    const std::string_view one = wish == "cuda:all" ? "cuda" : wish;
    std::unique_ptr<Device> device = gpus.empty() ? pick_device(one) : gpu_at(0);
    Company company{.processes = std::move(processes)};
    for (std::size_t i = 1; i < gpus.size(); ++i) company.devices.push_back(gpu_at(i));
    if (company.devices.empty() && !company.processes) return device;
    if (device->info().kind == DeviceKind::emulator)
        device->set_exchange(HostExchange::make(*device, std::move(company)));
    else
        device->set_exchange(NcclExchange::make(*device, std::move(company)));
    return device;
}

std::vector<DeviceChoice> rank_choices() {
    std::vector<DeviceChoice> choices;
    for (const std::string& wish : device_choices()) choices.push_back({wish, wish});
    const int gpus = survey_cuda().devices;
    if (gpus < 2) return choices;
    CudaDeviceNumber device = 0;
    std::array<char, 256> name{};
    cuda().device_get(&device, 0);
    cuda().device_name(name.data(), int(name.size()), device);
    choices.insert(choices.end() - 1, {"cuda:all", fmt::format("{} × {}", gpus, name.data())});
    return choices;
}

}  // namespace warpscope::compute
