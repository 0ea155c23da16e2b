struct Body { float3 place; float mass; };
__constant__ Body centre[2];
__global__ void pull(Body* p) { p[threadIdx.x].mass += centre[1].mass; }
