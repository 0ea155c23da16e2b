#include "compute/ranks/host_exchange.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "compute/device/device.h"

namespace warpscope::compute {
namespace {

std::size_t index_of(const Company& company) {
    return company.processes ? std::size_t(company.processes->index()) : 0;
}

/// Converts first ranks to byte offsets in an array that has `bytes` for each rank.
std::vector<std::size_t> scaled(std::vector<std::size_t> first_ranks, std::size_t bytes) {
    for (std::size_t& rank : first_ranks) rank *= bytes;
    return first_ranks;
}

}  // namespace

std::vector<Device*> all_devices(Device& first, const Company& company) {
    std::vector<Device*> devices{&first};
    for (const auto& device : company.devices) devices.push_back(device.get());
    return devices;
}

std::shared_ptr<HostExchange> HostExchange::make(Device& device, Company company) {
    Roll roll = call_roll(company.processes.get(), {all_devices(device, company), {}});
    return std::shared_ptr<HostExchange>(
        new HostExchange(device, std::move(company), std::move(roll)));
}

HostExchange::HostExchange(Device& device, Company company, Roll roll)
    : Exchange(all_devices(device, company), roll.first_ranks.back(),
               roll.first_ranks[index_of(company)], roll.memory_bytes),
      company_(std::move(company)),
      first_ranks_(std::move(roll.first_ranks)) {}

HostExchange::~HostExchange() {
    close();
}

void HostExchange::close() {
    if (!processes() || first() != 0 || std::exchange(closed_, true)) return;
    try {
        compute::tell(*processes(), {Call::Task::close, company_.exchange});
    } catch (const DeviceError&) {
        // The other processes have already ended.
    }
}

void HostExchange::meet() {
    if (!processes()) return;
    const Uninterrupted uninterrupted(*devices().front());
    devices().front()->time_as(waiting_timing, {}, [&] { processes()->meet(); });
}

void HostExchange::all_gather(std::span<const std::uint64_t> arrays,
                              std::span<const std::size_t> bounds) {
    meet();
    const Uninterrupted uninterrupted(*devices().front());
    std::vector<std::byte> all(bounds.back());
    const auto queue = [&] {
        for (std::size_t i = 0; i < arrays.size(); ++i) {
            const std::size_t begin = bounds[first() + i], end = bounds[first() + i + 1];
            devices()[i]->download(all.data() + begin, arrays[i] + begin, end - begin);
        }
        if (processes()) {
            std::vector<std::size_t> of_processes;
            for (const std::size_t rank : first_ranks_) of_processes.push_back(bounds[rank]);
            processes()->all_gather(all.data(), of_processes);
        }
        for (std::size_t i = 0; i < arrays.size(); ++i) {
            const std::size_t begin = bounds[first() + i], end = bounds[first() + i + 1];
            devices()[i]->upload(arrays[i], all.data(), begin);
            devices()[i]->upload(arrays[i] + end, all.data() + end, all.size() - end);
        }
    };
    devices().front()->time_as(all_gather_timing, {double(all.size())}, queue);
}

void HostExchange::sum(std::span<const std::uint64_t> arrays, std::size_t count) {
    const std::size_t bytes = count * sizeof(std::uint64_t);
    std::vector<std::uint64_t> total(count), own(count);
    for (std::size_t i = 0; i < arrays.size(); ++i) {
        devices()[i]->download(own.data(), arrays[i], bytes);
        std::ranges::transform(total, own, total.begin(), std::plus());
    }
    meet();
    if (processes()) processes()->sum(total);
    for (std::size_t i = 0; i < arrays.size(); ++i)
        devices()[i]->upload(arrays[i], total.data(), bytes);
}

std::vector<double> HostExchange::gather_values(std::span<const double> own) {
    std::vector<double> all(ranks());
    std::ranges::copy(own, all.begin() + std::ptrdiff_t(first()));
    if (processes())
        processes()->all_gather(reinterpret_cast<std::byte*>(all.data()),
                                scaled(first_ranks_, sizeof(double)));
    return all;
}

void HostExchange::tell(std::span<const std::byte> content) {
    if (processes())
        compute::tell(*processes(), {Call::Task::carry_out, company_.exchange}, content);
}

std::string HostExchange::words() const {
    if (!company_.processes) return "memory of this computer";
    return company_.processes->version();
}

}  // namespace warpscope::compute
