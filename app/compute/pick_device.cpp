#include "compute/pick_device.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <iterator>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "compute/cuda/cuda_device.h"
#include "compute/cuda/driver.h"
#include "compute/cuda/survey.h"
#include "compute/device/number_text.h"
#include "compute/emulated/emulated_device.h"
#include "compute/ranks/nccl_exchange.h"

namespace warpscope::compute {

std::unique_ptr<Device> pick_device(std::string_view wish) {
    if (wish == "emulator") return make_emulated_device(files::sentence("it was asked for"));
    if (wish == "auto") {
        const CudaSurvey& survey = survey_cuda();
        if (survey.devices == 0) return make_emulated_device(survey.reason);
        return make_cuda_device(0, "the first GPU that the driver can use");
    }
    int ordinal = 0;
    if (wish.starts_with("cuda:")) {
        const std::string number(wish.substr(5));
        if (number.empty() || number.size() > 4 ||
            number.find_first_not_of("0123456789") != std::string::npos)
            throw std::invalid_argument(
                fmt::format("device \"{}\": write cuda:N with N = 0, 1, …", wish));
        ordinal = std::stoi(number);
    } else if (wish != "cuda") {
        throw std::invalid_argument(
            fmt::format("device \"{}\" is unknown: use auto, cuda, cuda:N or emulator", wish));
    }
    const CudaSurvey& survey = survey_cuda();
    if (survey.devices == 0)
        throw DeviceError(fmt::format("no GPU to use: {}; --device emulator runs the same kernels",
                                      survey.reason));
    if (ordinal >= survey.devices)
        throw DeviceError(
            fmt::format("there is no cuda:{}: the driver shows {} (cuda:0{})", ordinal,
                        plural(std::uint64_t(survey.devices), "GPU"),
                        survey.devices == 1 ? "" : fmt::format(" to cuda:{}", survey.devices - 1)));
    return make_cuda_device(ordinal, files::sentence("it was asked for"));
}

std::vector<std::string> device_choices() {
    std::vector<std::string> choices{"auto"};
    for (int i = 0; i < survey_cuda().devices; ++i) choices.push_back(fmt::format("cuda:{}", i));
    choices.push_back("emulator");
    return choices;
}

namespace {

/// Returns the GPUs that "cuda:0,1" lists; empty for any other wish.
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

/// Returns the GPUs of this host that this process uses, when several processes share the host.
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

/// The devices of this process.
struct Own {
    std::unique_ptr<Device> first;
    std::vector<std::unique_ptr<Device>> further{};
    std::shared_ptr<const Nccl> nccl{};  ///< null: GPUs do not exchange data
};

Own own_devices(std::string_view wish, const Processes* processes) {
    const std::vector<int> gpus = gpus_of(wish, processes);
    const auto gpu_at = [&](std::size_t i) { return pick_device(fmt::format("cuda:{}", gpus[i])); };
    Own own{gpus.empty() ? pick_first(wish) : gpu_at(0)};
    for (std::size_t i = 1; i < gpus.size(); ++i) own.further.push_back(gpu_at(i));
    const bool exchanges = processes || !own.further.empty();
    if (exchanges && own.first->info().kind == DeviceKind::cuda) own.nccl = load_nccl();
    return own;
}

/// Returns the first device, which computes with all others.
std::unique_ptr<Device> join(Own own, std::shared_ptr<Processes> processes,
                             std::uint32_t exchange) {
    Company company{std::move(own.further), std::move(processes), exchange};
    const bool others = company.processes != nullptr;
    try {
        if (own.nccl)
            own.first->set_exchange(NcclExchange::make(*own.first, std::move(company), own.nccl));
        else
            own.first->set_exchange(HostExchange::make(*own.first, std::move(company)));
    } catch (const Refused&) {
        throw;
    } catch (const DeviceError& e) {
        // The other processes can be anywhere between the roll call and their first exchange.
        if (others) throw DeviceLost(e.what());
        throw;
    }
    return std::move(own.first);
}

}  // namespace

std::unique_ptr<Device> pick_ranks(std::string_view wish, std::shared_ptr<Processes> processes) {
    Own own = own_devices(wish, processes.get());
    if (own.further.empty() && !processes) return std::move(own.first);
    static std::atomic<std::uint32_t> next = 0;
    const std::uint32_t exchange = next++;
    if (processes) tell(*processes, {Call::Task::open, exchange}, std::as_bytes(std::span(wish)));
    return join(std::move(own), std::move(processes), exchange);
}

std::unique_ptr<Device> open_told_ranks(std::string_view wish, std::shared_ptr<Processes> processes,
                                        std::uint32_t exchange) {
    Own own;
    try {
        own = own_devices(wish, processes.get());
    } catch (const std::exception& e) {
        call_roll(processes.get(), {{}, e.what()});
    }
    return join(std::move(own), std::move(processes), exchange);
}

std::unique_ptr<Device> pick_first(std::string_view wish) {
    const std::vector<int> gpus = listed(wish);
    if (wish == "cuda:all") return pick_device("cuda");
    return pick_device(gpus.empty() ? wish : fmt::format("cuda:{}", gpus.front()));
}

std::vector<std::string> wishes_left(const std::vector<int>& gpus,
                                     const std::function<bool(int gpu)>& works) {
    std::vector<int> left;
    std::ranges::copy_if(gpus, std::back_inserter(left), works);
    std::vector<std::string> wishes;
    if (left.size() > 1 && left.size() < gpus.size())
        wishes.push_back(fmt::format("cuda:{}", fmt::join(left, ",")));
    if (!left.empty()) wishes.push_back(fmt::format("cuda:{}", left.front()));
    wishes.emplace_back("emulator");
    return wishes;
}

std::vector<std::string> wishes_after_loss(std::string_view wish) {
    const auto works = [](int gpu) {
        try {
            const auto device = pick_device(fmt::format("cuda:{}", gpu));
            const Buffer<std::uint32_t> buffer(*device, std::array<std::uint32_t, 1>{1});
            return buffer.download().front() == 1;
        } catch (const DeviceError&) {
            return false;
        }
    };
    return wishes_left(wish == "cuda:all" ? all_gpus() : listed(wish), works);
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
