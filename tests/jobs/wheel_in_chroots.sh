#!/usr/bin/env bash
# Installs a wheel in bare systems and checks a program there, with nvcc of PyPI: wheel_in_chroots.sh WHEEL [SUITES]. It needs root,
# debootstrap and the network. Not a test of CTest: it takes minutes for each system. The systems stay in CHROOTS (a folder) if that is set.
set -euo pipefail
wheel=$(realpath "$1")
suites=("${@:2}")
[ ${#suites[@]} -gt 0 ] || suites=(bookworm trixie jammy)
folder=${CHROOTS:-$(mktemp -d)}
[ -n "${CHROOTS:-}" ] || trap 'rm -rf "$folder"' EXIT

make_system() {
    local mirror=http://deb.debian.org/debian options=(--variant=minbase --include=ca-certificates,g++,python3-venv)
    if [ "$1" = jammy ]; then
        mirror=http://archive.ubuntu.com/ubuntu
        options+=(--components=main,universe)
        [ -e /usr/share/keyrings/ubuntu-archive-keyring.gpg ] || options+=(--no-check-gpg)
    fi
    [ -e "$2/usr/bin/python3" ] || debootstrap "${options[@]}" "$1" "$2" "$mirror" >"$2.log"
    # The machine's own way to the network: its certificates, mirrors and resolver.
    cp -L /etc/ssl/certs/ca-certificates.crt "$2/etc/ssl/certs"
    for file in /etc/resolv.conf /etc/pip.conf; do [ ! -e $file ] || cp -L $file "$2/etc"; done
}

for suite in "${suites[@]}"; do
    system=$folder/$suite
    make_system "$suite" "$system"
    rm -rf "$system/root/try" && mkdir "$system/root/try"
    cp "$wheel" "$system/root/try"
    cat >"$system/root/try/app.cu" <<'END'
#include <cuda_fp16.h>
__global__ void reverse(float* data) {
    __shared__ float tile[64];
    tile[threadIdx.x] = data[threadIdx.x];
    data[threadIdx.x] = tile[63 - threadIdx.x];
}
int main() {
    float* data;
    cudaMalloc(&data, 64 * sizeof(float));
    cudaMemset(data, 0, 64 * sizeof(float));
    reverse<<<1, 64>>>(data);
    cudaDeviceSynchronize();
    cudaFree(data);
}
END
    cat >"$system/root/try/try.sh" <<'END'
set -eu
cd /root/try
python3 -m venv venv
began=$(date +%s)
venv/bin/pip install -q "$(echo *.whl)[nvcc]"
for options in "" "-cudart shared"; do
    status=0
    venv/bin/warpscope --nvcc "$options" --check race app.cu >found 2>&1 || status=$?
    [ $status = 1 ] && grep -q "RAW race between app.cu:4 and app.cu:5, in reverse" found || { cat found; exit 1; }
    echo "found the race after $(($(date +%s) - began)) s"
done
venv/bin/python -c "
import array, warpscope
assert warpscope.check('__global__ void f(int* x) { *x += 2; }', 'f', 1, 1, x=array.array('i', [40]))['x'][0] == 42"
END
    echo "$suite: $(chroot "$system" sh -c 'ldd --version | head -n 1; python3 --version; g++ -dumpversion' | tr '\n' ' ')"
    mount --bind /dev "$system/dev"
    mount -t proc proc "$system/proc"
    status=0
    env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root PIP_DISABLE_PIP_VERSION_CHECK=1 chroot "$system" sh /root/try/try.sh || status=$?
    umount "$system/proc" "$system/dev"
    rm -rf "$system/root/try" "$system/root/.cache"
    [ $status = 0 ] || exit $status
done
