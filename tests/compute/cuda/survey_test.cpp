#include <gtest/gtest.h>

#include "compute/cuda/survey.h"

namespace warpscope::compute {
namespace {

// The driver that the functions of fake_driver() describe.
int cuda_version = 13000, device_count = 1, capability = 90;
CudaStatus init_status = CudaStatuses::success;

CudaDriver fake_driver() {
    CudaDriver driver{};
    driver.version = [](int* version) {
        *version = cuda_version;
        return CudaStatuses::success;
    };
    driver.init = [](unsigned) { return init_status; };
    driver.device_count = [](int* count) {
        *count = device_count;
        return CudaStatuses::success;
    };
    driver.device_get = [](CudaDeviceNumber* device, int ordinal) {
        *device = ordinal;
        return CudaStatuses::success;
    };
    driver.device_attribute = [](int* value, int attribute, CudaDeviceNumber) {
        *value = attribute == CudaAttributes::capability_major ? capability / 10 : capability % 10;
        return CudaStatuses::success;
    };
    driver.error_string = [](CudaStatus, const char** text) {
        *text = "system not yet initialized";
        return CudaStatuses::success;
    };
    return driver;
}

class SurveyTest : public testing::Test {
  protected:
    SurveyTest() {
        cuda_version = 13000;
        device_count = 1;
        capability = 90;
        init_status = CudaStatuses::success;
    }
    CudaSurvey survey() {
        const CudaDriver driver = fake_driver();
        return survey_driver(&driver);
    }
};

TEST_F(SurveyTest, CountsTheGpusOfADriver) {
    device_count = 3;
    EXPECT_EQ(survey().devices, 3);
    EXPECT_EQ(survey().reason, "");
}

TEST_F(SurveyTest, SaysThatThereIsNoDriver) {
    EXPECT_EQ(survey_driver(nullptr).reason, "no NVIDIA driver is installed");
}

TEST_F(SurveyTest, SaysThatThereIsNoGpu) {
    init_status = CudaStatuses::no_device;
    EXPECT_EQ(survey().reason, "the NVIDIA driver shows no GPU");
    init_status = CudaStatuses::success;
    device_count = 0;
    EXPECT_EQ(survey().reason, "the NVIDIA driver shows no GPU");
}

TEST_F(SurveyTest, TheOldestDriverIsThatOfCuda11) {
    cuda_version = 11000;
    EXPECT_EQ(survey().devices, 1);
    cuda_version = 10020;
    EXPECT_EQ(survey().devices, 0);
    EXPECT_EQ(survey().reason,
              "the NVIDIA driver supports CUDA 10.2, and Warpscope needs CUDA 11.0: install a "
              "driver of branch 450 or newer");
}

TEST_F(SurveyTest, TheOldestGpuIsTuring) {
    capability = 75;
    EXPECT_EQ(survey().devices, 1);
    capability = 61;
    EXPECT_EQ(survey().devices, 0);
    EXPECT_EQ(survey().reason,
              "the GPU has compute capability 6.1, and the kernels need 7.5 (Turing) or newer");
}

TEST_F(SurveyTest, ReportsTheWordsOfTheDriver) {
    init_status = 802;  // CUDA_ERROR_SYSTEM_NOT_READY
    EXPECT_EQ(survey().devices, 0);
    EXPECT_EQ(survey().reason, "the NVIDIA driver reports: system not yet initialized");
}

TEST(CudaDriverTest, ALibraryWithoutItsFunctionsIsNoDriver) {
    EXPECT_EQ(load_cuda_driver("libwarpscope_is_not_there.so.1"), nullptr);
    EXPECT_EQ(load_cuda_driver("libm.so.6"), nullptr);
}

}  // namespace
}  // namespace warpscope::compute
