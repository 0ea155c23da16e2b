struct Rows { float* row[2]; };
__global__ void pointers_in_member_array(Rows r) { r.row[1][threadIdx.x] = r.row[0][threadIdx.x]; }
