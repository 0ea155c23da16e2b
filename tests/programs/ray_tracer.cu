// A ray tracer whose objects are made by new in a kernel: what a ray hits and how a material
// scatters it are virtual functions, and a list of objects is an object. The host traces the same
// rays, without virtual functions, and compares the pictures. With the argument "cycle", a list
// contains a list that contains it, so that its virtual function calls itself for ever.
#include <cmath>
#include <string>

#include "book.h"

#define BOTH __host__ __device__

struct Vector {
    float x, y, z;
};
BOTH Vector operator+(Vector a, Vector b) {
    return {a.x + b.x, a.y + b.y, a.z + b.z};
}
BOTH Vector operator-(Vector a, Vector b) {
    return {a.x - b.x, a.y - b.y, a.z - b.z};
}
BOTH Vector operator*(float s, Vector a) {
    return {s * a.x, s * a.y, s * a.z};
}
BOTH Vector operator*(Vector a, Vector b) {
    return {a.x * b.x, a.y * b.y, a.z * b.z};
}
BOTH float dot(Vector a, Vector b) {
    return a.x * b.x + a.y * b.y + a.z * b.z;
}
BOTH Vector unit(Vector a) {
    return 1 / sqrtf(dot(a, a)) * a;
}

/// A linear congruential generator, so that host and device scatter alike.
struct Random {
    unsigned state;
    BOTH float operator()() {
        state = state * 1664525u + 1013904223u;
        return (state >> 8) / 16777216.0f;
    }
    BOTH Vector in_ball() {
        while (true) {
            const float x = 2 * (*this)() - 1, y = 2 * (*this)() - 1, z = 2 * (*this)() - 1;
            if (x * x + y * y + z * z < 1) return {x, y, z};
        }
    }
};

struct Ray {
    Vector from, along;
};

struct Ball {
    Vector centre;
    float radius;
    Vector colour;
    bool is_metal;
};

BOTH bool is_hit(const Ball& ball, const Ray& ray, float nearest, float& t) {
    const Vector to = ray.from - ball.centre;
    const float a = dot(ray.along, ray.along), b = dot(to, ray.along),
                c = dot(to, to) - ball.radius * ball.radius, d = b * b - a * c;
    if (d <= 0) return false;
    t = (-b - sqrtf(d)) / a;
    if (t <= 0.001f) t = (-b + sqrtf(d)) / a;
    return t > 0.001f && t < nearest;
}
BOTH Vector scattered(bool is_metal, Vector along, Vector normal, Random& random) {
    if (!is_metal) return normal + random.in_ball();
    return unit(along) - 2 * dot(unit(along), normal) * normal;
}
BOTH Vector sky(Vector along) {
    const float t = 0.5f * (unit(along).y + 1);
    return (1 - t) * Vector{1, 1, 1} + t * Vector{0.5f, 0.7f, 1};
}

constexpr int width = 16, height = 8, balls = 4, most_bounces = 8;
__constant__ Ball scene[balls];
const Ball scene_of_host[balls] = {{{0, 0, -1}, 0.5f, {0.8f, 0.3f, 0.3f}, false},
                                   {{0, -100.5f, -1}, 100, {0.8f, 0.8f, 0}, false},
                                   {{1, 0, -1}, 0.5f, {0.8f, 0.6f, 0.2f}, true},
                                   {{-1, 0, -1}, 0.4f, {0.8f, 0.8f, 0.8f}, true}};

BOTH Ray ray_at(int x, int y) {
    return {{0, 0, 0}, {4 * (x + 0.5f) / width - 2, 2 * (y + 0.5f) / height - 1, -1}};
}

// With virtual functions.

class Material;
struct Hit {
    float t;
    Vector normal;
    const Material* material;
};

class Material {
  public:
    __device__ virtual ~Material() {}
    __device__ virtual Vector scatter(Vector along, Vector normal, Random& random) const = 0;
    Vector colour;
};
class Matte : public Material {
    __device__ Vector scatter(Vector along, Vector normal, Random& random) const override {
        return scattered(false, along, normal, random);
    }
};
class Metal : public Material {
    __device__ Vector scatter(Vector along, Vector normal, Random& random) const override {
        return scattered(true, along, normal, random);
    }
};

class Object {
  public:
    __device__ virtual ~Object() {}
    __device__ virtual bool hit(const Ray& ray, float nearest, Hit& hit) const = 0;
};
class Sphere : public Object {
  public:
    __device__ Sphere(const Ball& of) : ball(of) {
        material = of.is_metal ? static_cast<Material*>(new Metal) : new Matte;
        material->colour = of.colour;
    }
    __device__ ~Sphere() override { delete material; }
    __device__ bool hit(const Ray& ray, float nearest, Hit& hit) const override {
        float t;
        if (!is_hit(ball, ray, nearest, t)) return false;
        hit = {t, 1 / ball.radius * (ray.from + t * ray.along - ball.centre), material};
        return true;
    }

  private:
    Ball ball;
    Material* material;
};
class List : public Object {
  public:
    __device__ ~List() override {
        for (int i = 0; i < count; ++i) delete members[i];
    }
    __device__ void add(Object* member) { members[count++] = member; }
    __device__ bool hit(const Ray& ray, float nearest, Hit& hit) const override {
        bool any = false;
        for (int i = 0; i < count; ++i)
            if (members[i]->hit(ray, nearest, hit)) {
                any = true;
                nearest = hit.t;
            }
        return any;
    }

  private:
    Object* members[4];
    int count = 0;
};

/// A list of a ball and of a list of the others.
__global__ void make(Object** world, bool has_cycle) {
    List *outer = new List, *inner = new List;
    outer->add(new Sphere(scene[0]));
    outer->add(inner);
    for (int i = 1; i < balls; ++i) inner->add(new Sphere(scene[i]));
    if (has_cycle) inner->add(outer);
    *world = outer;
}

__global__ void render(Object* const* world, Vector* picture) {
    const int x = threadIdx.x, y = blockIdx.x;
    Ray ray = ray_at(x, y);
    Random random{unsigned(y * width + x)};
    Vector light{1, 1, 1};
    for (int bounce = 0; bounce < most_bounces; ++bounce) {
        Hit hit;
        if (!(*world)->hit(ray, 1e30f, hit)) {
            picture[y * width + x] = light * sky(ray.along);
            return;
        }
        light = light * hit.material->colour;
        const Vector at = ray.from + hit.t * ray.along;
        ray = {at, hit.material->scatter(ray.along, hit.normal, random)};
    }
    picture[y * width + x] = {0, 0, 0};
}

__global__ void release(Object** world) {
    delete *world;
}

// Without.

Vector traced(int x, int y) {
    Ray ray = ray_at(x, y);
    Random random{unsigned(y * width + x)};
    Vector light{1, 1, 1};
    for (int bounce = 0; bounce < most_bounces; ++bounce) {
        const Ball* hit = nullptr;
        float nearest = 1e30f, t;
        for (const Ball& ball : scene_of_host)
            if (is_hit(ball, ray, nearest, t)) {
                hit = &ball;
                nearest = t;
            }
        if (!hit) return light * sky(ray.along);
        light = light * hit->colour;
        const Vector at = ray.from + nearest * ray.along;
        const Vector normal = 1 / hit->radius * (at - hit->centre);
        ray = {at, scattered(hit->is_metal, ray.along, normal, random)};
    }
    return {0, 0, 0};
}

int main(int count, char** arguments) {
    const bool has_cycle = count > 1 && std::string(arguments[1]) == "cycle";
    Object** world;
    Vector* picture;
    HANDLE_ERROR(cudaMalloc(&world, sizeof *world));
    HANDLE_ERROR(cudaMallocManaged(&picture, width * height * sizeof *picture));
    HANDLE_ERROR(cudaMemcpyToSymbol(scene, scene_of_host, sizeof scene_of_host));
    make<<<1, 1>>>(world, has_cycle);
    render<<<height, width>>>(world, picture);
    const cudaError_t ended = cudaDeviceSynchronize();
    if (ended != cudaSuccess) {
        std::printf("%s\n", cudaGetErrorName(ended));
        return 3;
    }
    release<<<1, 1>>>(world);
    HANDLE_ERROR(cudaDeviceSynchronize());
    int alike = 0, hit = 0;
    for (int y = 0; y < height; ++y)
        for (int x = 0; x < width; ++x) {
            const Vector is = picture[y * width + x], right = traced(x, y);
            const auto near = [](float a, float b) { return std::abs(a - b) < 0.01f; };
            alike += near(is.x, right.x) && near(is.y, right.y) && near(is.z, right.z);
            hit += right.x < 0.5f;
        }
    std::printf("%d of %d pixels are right, %d dark\n", alike, width * height, hit);
}
