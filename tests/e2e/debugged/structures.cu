// A sum of vectors with structures as parameters, in the style of NVIDIA's sample vectorAdd.
#include <cstdio>

enum Kind { plain, scaled = 7 };
enum class Mode : unsigned char { off, on };
struct Scale { float factor; Kind kind; };
struct Params {
    int count;
    Scale scales[2];
    Mode mode;
    bool verbose;
    char letter;
    unsigned low : 3, high : 7;
};
struct Base { long long id; };
struct Item : Base { float value; short tags[3]; };
union Bits { float number; unsigned bits; };

__global__ void add(const Params params, Item* items, const float* b) {
    const int i = blockDim.x * blockIdx.x + threadIdx.x;
    Item own = items[i];
    const Scale* scale = &params.scales[i & 1];
    Mode mode = params.mode;
    Kind kind = scale->kind;
    Bits bits;
    bits.number = b[i];
    float sum = kind == scaled ? own.value * scale->factor + b[i] : own.value + b[i];
    const bool isLast = i + 1 == params.count;
    char letter = params.letter + i;
    signed char small = -i;
    float* const slot = &items[i].value;
    if (i == 3)
        printf("values: params.count=%d params.scales[1].factor=%f params.verbose=%d params.high=%d items[2].value=%f b[1]=%f i=%d own.value=%f own.tags[1]=%d scale[0].factor=%f mode=%d kind=%d bits.bits=%u sum=%f isLast=%d letter=%d small=%d slot[0]=%f\n",
               params.count, params.scales[1].factor, params.verbose, params.high, items[2].value, b[1], i, own.value, own.tags[1], scale->factor, int(mode), kind, bits.bits, sum, isLast, letter, small, *slot);
    *slot = sum;
}

int main() {
    Item host[4], *items;
    float other[4] = {1, 2, 3, 4.5F}, *b;
    cudaMalloc(&items, sizeof host);
    cudaMalloc(&b, sizeof other);
    for (int k = 0; k < 4; ++k) {
        host[k].id = 100 + k;
        host[k].value = 10.5F * k;
        for (int t = 0; t < 3; ++t) host[k].tags[t] = 10 * t - k;
    }
    cudaMemcpy(items, host, sizeof host, cudaMemcpyHostToDevice);
    cudaMemcpy(b, other, sizeof other, cudaMemcpyHostToDevice);
    add<<<1, 4>>>(Params{4, {{2, plain}, {3, scaled}}, Mode::on, true, 'a', 5, 99}, items, b);
    return cudaDeviceSynchronize();
}
