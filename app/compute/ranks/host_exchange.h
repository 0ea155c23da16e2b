#pragma once

#include <memory>
#include <vector>

#include "compute/device/device.h"
#include "compute/ranks/processes.h"

namespace warpscope::compute {

/// The further devices of this process, and the processes of the other ranks.
struct Company {
    std::vector<std::unique_ptr<Device>> devices{};
    std::shared_ptr<Processes> processes{};  ///< null: there are none
};

/// An exchange through host memory, and through MPI between processes: for the emulator.
class HostExchange : public Exchange {
  public:
    /// `device` is the first device of this process and owns the exchange.
    static std::shared_ptr<HostExchange> make(Device& device, Company company);
    /// In the process of rank 0: the others stop to follow.
    ~HostExchange() override;

    void all_gather(std::span<const std::uint64_t> arrays,
                    std::span<const std::size_t> bounds) override;
    void sum(std::span<const std::uint64_t> arrays, std::size_t count) override;
    std::vector<double> gather_values(std::span<const double> own) override;
    void tell(std::span<const std::byte> bytes) override;
    std::vector<std::byte> hear() override;
    std::string words() const override;

  protected:
    /// `first_ranks` has the first rank of each process, and behind them the number of ranks.
    HostExchange(Device& device, Company company, std::vector<std::size_t> first_ranks);

    Processes* processes() const { return company_.processes.get(); }

  private:
    void meet();

    Company company_;
    std::vector<std::size_t> first_ranks_;
};

/// The first rank of each process, and behind them the number of ranks.
std::vector<std::size_t> first_ranks_of(Processes* processes, std::size_t own_devices);

}  // namespace warpscope::compute
