// A stand-in for the library of built-in headers that belongs to NVRTC.
extern "C" int fake_builtins() {
    return 0;
}
