// A structure with three bit-fields in 4 bytes. The first one keeps the lowest 4 bits of 21, which are 5.
struct Packed {
    unsigned low : 4;
    int middle : 3;
    unsigned high : 20;
    float factor;
};

__global__ void unpack(Packed p, float* out) {
    out[0] = p.low;
    out[1] = p.middle;
    out[2] = p.high;
    out[3] = p.factor;
}
