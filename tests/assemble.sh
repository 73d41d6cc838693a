#!/usr/bin/env bash
# Assembles the PTX of every kernel, unit, tile and head dim with NVIDIA's ptxas, for every chip that a profile is for, and
# fails on an error or a spill.
# usage: tests/assemble.sh QUADPAIR [FOLDER FOR PTXAS]
# ptxas is fetched into the folder (default: ~/.cache/quadpair-ptxas) on first use. As many run at once as there are cores.
set -euo pipefail
export quadpair=$1
tools=${2:-$HOME/.cache/quadpair-ptxas}
export ptxas=$tools/ptxas
"$(dirname "$0")/tools.sh" "$tools"
work=$(mktemp -d)
export work
trap 'rm -rf "$work"' EXIT

assemble() {  # targets with a comma between them, then the arguments of `quadpair ptx`; a line for each target
    local kernel target log
    kernel=$(mktemp -p "$work")
    if ! log=$("$quadpair" ptx "${@:2}" -o "$kernel" 2>&1); then
        echo "failed: ptx ${*:2}: $log"
        return
    fi
    for target in ${1//,/ }; do
        if ! log=$("$ptxas" -arch="$target" -v "$kernel" -o "$kernel.cubin" 2>&1); then
            echo "failed: ptx ${*:2}: ptxas refuses it for $target: $log"
        elif ! grep -q ' 0 bytes spill stores, 0 bytes spill loads' <<<"$log"; then
            echo "failed: ptx ${*:2}: on $target$(grep -o ', .*spill.*' <<<"$log")"
        else
            echo passed
        fi
    done
    rm -f "$kernel" "$kernel.cubin"
}
export -f assemble

declare -A targets=([volta]=sm_70 [turing]=sm_75 [ampere]=sm_80,sm_86,sm_87 [ada]=sm_89 [hopper]=sm_90a
    [blackwell]=sm_100,sm_103,sm_120)
declare -A units=([volta]=m8n8k4 [turing]=m16n8k8 [ampere]=m16n8k16 [ada]=m16n8k16 [hopper]="wgmma m16n8k16"
    [blackwell]=m16n8k16)

jobs() {  # the arguments of every call of `assemble`, a line each
    local profile unit head_dim tile orders
    echo "sm_70 vector_add"
    for profile in "${!targets[@]}"; do
        for unit in ${units[$profile]} fma; do
            for orders in "" --transpose-a --transpose-b "--transpose-a --transpose-b"; do
                echo "${targets[$profile]} matmul --profile $profile --unit $unit $orders"
            done
            for head_dim in 64 96 128 256; do
                echo "${targets[$profile]} flash_attention --profile $profile --unit $unit --head-dim $head_dim"
            done
            for head_dim in 8 40 80 112 192; do  # the first target is the profile's own
                echo "${targets[$profile]%%,*} flash_attention --profile $profile --unit $unit --head-dim $head_dim"
            done
        done
    done
    for tile in 64x64x32 128x64x32 64x128x32; do
        echo "sm_70 matmul --profile volta --unit m8n8k4 --tile $tile"
    done
    for head_dim in $(seq 16 8 256); do
        case $head_dim in 40|64|80|96|112|128|192|256) continue;; esac
        echo "sm_70 flash_attention --profile volta --unit m8n8k4 --head-dim $head_dim"
    done
}

jobs | xargs -P "$(nproc)" -d '\n' -n 1 bash -c 'assemble $1' assemble >"$work/results"
grep '^failed' "$work/results" || true
failed=$(grep -c '^failed' "$work/results" || true)
echo "assemble: $(grep -c '^passed' "$work/results" || true) passed, $failed failed"
[ "$failed" = 0 ]
