#pragma once

#include <memory>
#include <vector>

#include "compute/device/device.h"
#include "compute/ranks/processes.h"

namespace warpscope::compute {

/// The further devices of this process, and the processes of the other ranks.
struct Company {
    std::vector<std::unique_ptr<Device>> devices{};
    /// The processes of the other ranks; null: there are none.
    std::shared_ptr<Processes> processes{};
    std::uint32_t exchange = 0;  ///< the number of the exchange in a Call
};

/// An exchange through host memory, and through MPI between processes: for the emulator.
class HostExchange : public Exchange {
  public:
    /// `device` is the first device of this process and owns the exchange.
    static std::shared_ptr<HostExchange> make(Device& device, Company company);
    /// In the process of rank 0, makes the other processes close their exchanges.
    ~HostExchange() override;

    void all_gather(std::span<const std::uint64_t> arrays,
                    std::span<const std::size_t> bounds) override;
    void sum(std::span<const std::uint64_t> arrays, std::size_t count) override;
    std::vector<double> gather_values(std::span<const double> own) override;
    void tell(std::span<const std::byte> content) override;
    std::string words() const override;

  protected:
    HostExchange(Device& device, Company company, Roll roll);

    Processes* processes() const { return company_.processes.get(); }
    /// Makes the other processes close their exchanges, once.
    void close();

  private:
    void meet();

    Company company_;
    std::vector<std::size_t> first_ranks_;
    bool closed_ = false;
};

/// Returns the first device, followed by those of its company.
std::vector<Device*> all_devices(Device& first, const Company& company);

}  // namespace warpscope::compute
