# shellcheck shell=sh disable=SC2154,SC2034 # variables are shared with the files that source this one
# Sourced by tools/nacelle where several processes train together: installs what connects them, NCCL between GPUs, and
# LibTorch with its Gloo between CPUs. No other command downloads any of it.

nccl_folder=${XDG_DATA_HOME:-$HOME/.local/share}/nacelle/nccl

nccl_usage() {
    cat <<END
usage: tools/nacelle nccl

Installs NCCL of PyPI's wheel into $nccl_folder, unless this machine has libnccl.so.2:
about 200 MB to be downloaded. Training on several GPUs does the same: tools/nacelle train cartpole --ranks 2
END
}

# Whether a command line, or a launcher that started this process, asks for several ranks.
names_ranks() {
    case ${1:-} in train | resume) ;; *) return 1 ;; esac
    wanted='' before=''
    if [ -n "${RANK:-}" ]; then
        wanted=${WORLD_SIZE:-}
    elif [ -n "${SLURM_PROCID:-}" ] && [ -n "${SLURM_STEP_NUM_TASKS:-}" ]; then
        wanted=$SLURM_STEP_NUM_TASKS
    elif [ -n "${OMPI_COMM_WORLD_RANK:-}" ]; then
        wanted=${OMPI_COMM_WORLD_SIZE:-}
    fi
    for argument; do
        case $argument in --ranks=*) wanted=${argument#--ranks=} ;; esac
        [ "$before" != --ranks ] || wanted=$argument
        before=$argument
    done
    case $wanted in '' | 1) return 1 ;; esac
}

uses_gpus() {
    case " $* " in *' --backend cpu '* | *' --backend=cpu '*) return 1 ;; esac
    nvidia-smi -L 2>/dev/null | grep -q '^GPU'
}

has_nccl() {
    [ -n "${NACELLE_NCCL:-}" ] || [ -f "$nccl_folder/nvidia/nccl/lib/libnccl.so.2" ] ||
        { has_command ldconfig && ldconfig -p 2>/dev/null | grep -q 'libnccl\.so\.2'; }
}

# The folder gets its name last, as that of LibTorch.
download_nccl() {
    if has_driver_12; then wheel=nvidia-nccl-cu12; else wheel=nvidia-nccl-cu13; fi
    rm -rf "$nccl_folder.part"
    "$python_folder/bin/python" -m pip install --disable-pip-version-check --no-deps --target "$nccl_folder.part" "$wheel" || return
    rm -rf "$nccl_folder"
    mv "$nccl_folder.part" "$nccl_folder"
}

install_nccl() {
    ! has_nccl || return 0
    wants_python=yes
    install_packages
    install_python
    exec 8>"$nccl_folder.lock"
    ! has_command flock || flock 8
    if ! has_nccl && ! (step "installing NCCL from PyPI into $nccl_folder" download_nccl); then
        rm -rf "$nccl_folder.part"
        say 'NCCL could not be installed'
        return 1
    fi
    exec 8>&-
}

# with_ranks FOLDER ARGUMENTS: fails where what connects the ranks cannot be had.
with_ranks() {
    ranks_build=$1
    shift
    . "$root/tools/build/setup.sh"
    if uses_gpus "$@"; then install_nccl; else with_torch "$ranks_build"; fi
}

nccl_command() {
    case ${1:-} in -h | --help) nccl_usage && return ;; esac
    [ $# -eq 0 ] || { nccl_usage >&2 && exit 2; }
    . "$root/tools/build/setup.sh"
    install_nccl || exit 1
    say 'NCCL is there: tools/nacelle train cartpole --ranks 2'
}
