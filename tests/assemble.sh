#!/usr/bin/env bash
# Assembles the PTX of every kernel, unit, tile and head dim with NVIDIA's ptxas and fails on an error or a spill.
# usage: tests/assemble.sh QUADPAIR [FOLDER FOR PTXAS]
# ptxas is fetched into the folder (default: ~/.cache/quadpair-ptxas) on first use.
set -euo pipefail
quadpair=$1
tools=${2:-$HOME/.cache/quadpair-ptxas}
ptxas=$tools/ptxas
"$(dirname "$0")/tools.sh" "$tools"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

assembled=0
failed=0
assemble() {  # PTX of `quadpair ptx` with these arguments, for the target that it names
    "$quadpair" ptx "$@" -o "$work/kernel.ptx"
    local target
    target=$(sed -n 's/^\.target \(sm_[0-9]*\).*/\1/p' "$work/kernel.ptx")
    if ! "$ptxas" -arch="$target" -v "$work/kernel.ptx" -o "$work/kernel.cubin" >"$work/log" 2>&1; then
        echo "ptx $*: ptxas refuses it"; cat "$work/log"; failed=$((failed + 1))
    elif ! grep -q ' 0 bytes spill stores, 0 bytes spill loads' "$work/log"; then
        echo "ptx $*: spills"; grep spill "$work/log"; failed=$((failed + 1))
    else
        assembled=$((assembled + 1))
    fi
}

assemble vector_add
for profile in volta turing ampere ada hopper blackwell; do
    assemble matmul --profile $profile --unit fma
    for head_dim in 8 40 64 80 96 112 128 192 256; do
        assemble flash_attention --profile $profile --unit fma --head-dim $head_dim
    done
done
for tile in 64x64x32 128x64x32 64x128x32; do
    assemble matmul --profile volta --unit m8n8k4 --tile $tile
done
for head_dim in $(seq 8 8 256); do
    assemble flash_attention --profile volta --unit m8n8k4 --head-dim $head_dim
done
echo "assemble: $assembled passed, $failed failed"
[ "$failed" = 0 ]
