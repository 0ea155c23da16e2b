// An exchange of NCCL with a fake driver and a fake NCCL: how it ends when a GPU or a collective
// does not.
#include "compute/ranks/nccl_exchange.h"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <atomic>
#include <functional>

#include "support/host_device.h"

namespace warpscope::compute {
namespace {

struct Calls {
    std::atomic<int> gathers = 0, destroyed = 0, aborted = 0;
    std::atomic<NcclStatus> error = Nccl::success;
};
Calls calls;

std::shared_ptr<const Nccl> fake_nccl() {
    const Nccl nccl{
        .version = [](int* number) { return *number = 22707, Nccl::success; },
        .unique_id = [](NcclId*) { return Nccl::success; },
        .init_rank = [](NcclComm*, int, NcclId, int) { return Nccl::success; },
        .abort = [](NcclComm) { return ++calls.aborted, Nccl::success; },
        .destroy = [](NcclComm) { return ++calls.destroyed, Nccl::success; },
        .async_error = [](NcclComm,
                          NcclStatus* status) { return *status = calls.error, Nccl::success; },
        .error_string = [](NcclStatus) { return "unhandled system error"; },
        .group_start = [] { return Nccl::success; },
        .group_end = [] { return Nccl::success; },
        .all_gather = [](const void*, void*, std::size_t, int, NcclComm,
                         CudaStream) { return ++calls.gathers, Nccl::success; },
        .broadcast = [](const void*, void*, std::size_t, int, int, NcclComm,
                        CudaStream) { return Nccl::success; },
        .all_reduce = [](const void*, void*, std::size_t, int, int, NcclComm,
                         CudaStream) { return Nccl::success; }};
    return std::make_shared<const Nccl>(nccl);
}

class FakeGpu final : public tests::HostDevice {
  public:
    explicit FakeGpu(int ordinal) {
        info_.kind = DeviceKind::cuda;
        info_.ordinal = ordinal;
        info_.pci_bus_id = "0000:0" + std::to_string(ordinal) + ":00.0";
    }
    void* native_stream() const override { return const_cast<FakeGpu*>(this); }
};

class NcclExchangeTest : public testing::Test {
  protected:
    NcclExchangeTest() {
        calls.gathers = calls.destroyed = calls.aborted = 0;
        calls.error = Nccl::success;
        stop_after(-1);
        Company company;
        company.devices.push_back(std::make_unique<FakeGpu>(1));
        exchange_ = NcclExchange::make(gpu_, std::move(company), fake_nccl());
    }
    ~NcclExchangeTest() override {
        exchange_.reset();
        stop_after(-1);
    }
    static void stop_after(int events) {
        using Stop = void(int);
        reinterpret_cast<Stop*>(::dlsym(RTLD_DEFAULT, "fake_cuda_stop_after"))(events);
    }
    void gather() {
        const std::uint64_t arrays[] = {0, 0};
        const std::size_t bounds[] = {0, 16, 32};
        exchange_->all_gather(arrays, bounds);
    }
    /// The message of the DeviceLost that an exchange throws sooner or later.
    std::string loss() {
        for (;;) {
            try {
                gather();
            } catch (const DeviceLost& e) {
                return e.what();
            }
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
    }

    FakeGpu gpu_{0};
    std::shared_ptr<NcclExchange> exchange_;
};

TEST_F(NcclExchangeTest, DestroysItsCommunicatorsAtTheEnd) {
    for (int i = 0; i < 3; ++i) gather();
    EXPECT_EQ(calls.gathers, 6);  // of two GPUs
    exchange_.reset();
    EXPECT_EQ(calls.destroyed, 2);
    EXPECT_EQ(calls.aborted, 0);
}

TEST_F(NcclExchangeTest, IsLostAfterAnErrorOfNccl) {
    gather();
    calls.error = 2;
    EXPECT_EQ(loss(), "rank 0 (0000:00:00.0): NCCL: unhandled system error");
    exchange_.reset();
    EXPECT_EQ(calls.aborted, 2);
    EXPECT_EQ(calls.destroyed, 0);
}

TEST_F(NcclExchangeTest, IsLostWhereALaterExchangeHangs) {
    // The beginning and the end of one, and the beginning of the next, whose end never comes.
    stop_after(3);
    gather();
    gather();
    EXPECT_NE(loss().find("has not ended within 5 s: one of them hangs"), std::string::npos);
    EXPECT_EQ(calls.aborted, 2);
}

TEST_F(NcclExchangeTest, IsAbortedWhereAGpuDoesNotEnd) {
    stop_after(0);
    exchange_.reset();
    EXPECT_EQ(calls.aborted, 2);
    EXPECT_EQ(calls.destroyed, 0);
}

}  // namespace
}  // namespace warpscope::compute

int main(int argc, char** argv) {
    testing::InitGoogleTest(&argc, argv);
    // The app finds this library under its name, because it is loaded already.
    if (!::dlopen(FAKE_CUDA, RTLD_NOW | RTLD_GLOBAL)) return 1;
    return RUN_ALL_TESTS();
}
