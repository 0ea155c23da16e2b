// A fake of libnvidia-ml.so.1 with one GPU, whose values the tests know.
#include <cstring>

extern "C" {

int nvmlInit_v2() {
    return 0;
}
int nvmlDeviceGetHandleByPciBusId_v2(const char* bus, void** device) {
    if (std::strcmp(bus, "0000:3b:00.0") != 0) return 6;  // NVML_ERROR_NOT_FOUND
    *device = reinterpret_cast<void*>(0x3b);
    return 0;
}
int nvmlDeviceGetClockInfo(void* device, int type, unsigned* mhz) {
    if (device != reinterpret_cast<void*>(0x3b)) return 2;
    *mhz = type == 1 ? 1755 : type == 2 ? 3201 : 1;
    return 0;
}
int nvmlDeviceGetMaxClockInfo(void*, int type, unsigned* mhz) {
    *mhz = type == 1 ? 1980 : 1;
    return 0;
}
#ifdef FAKE_OLD_DRIVER
int nvmlDeviceGetCurrentClocksThrottleReasons(void*, unsigned long long* bits) {
    *bits = 0x1 | 0x2 | 0x100;  // idle, and set: nothing holds it down
    return 0;
}
// A GPU that can't measure its power leaves the value unchanged. This library has no function for
// the temperature.
int nvmlDeviceGetPowerUsage(void*, unsigned*) {
    return 3;  // NVML_ERROR_NOT_SUPPORTED
}
#else
int nvmlDeviceGetCurrentClocksEventReasons(void*, unsigned long long* bits) {
    *bits = 0x4 | 0x40;
    return 0;
}
int nvmlDeviceGetPowerUsage(void*, unsigned* milliwatts) {
    *milliwatts = 469'600;
    return 0;
}
int nvmlDeviceGetTemperature(void*, int sensor, unsigned* celsius) {
    *celsius = sensor == 0 ? 61 : 0;
    return 0;
}
#endif
}
