#!/usr/bin/env bash
# Fetches NVIDIA's ptxas and nvdisasm from PyPI into a folder, unless they are there: the last that know sm_70.
# usage: tests/tools.sh [FOLDER] (default: ~/.cache/quadpair-ptxas, where `quadpair inspect` looks too)
set -euo pipefail
tools=${1:-$HOME/.cache/quadpair-ptxas}
mkdir -p "$tools"

fetch() {  # a tool, the package that has it, its path in there
    [ ! -x "$tools/$1" ] || return 0
    local work
    work=$(mktemp -d)
    python3 -m pip download -q --no-deps -d "$work" "$2"
    python3 -m zipfile -e "$work"/*.whl "$work/wheel"
    cp "$work/wheel/$3" "$tools/$1"
    chmod +x "$tools/$1"
    rm -r "$work"
}
fetch ptxas nvidia-cuda-nvcc-cu12==12.9.86 nvidia/cuda_nvcc/bin/ptxas
fetch nvdisasm triton==3.2.0 triton/backends/nvidia/bin/nvdisasm
