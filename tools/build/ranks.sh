# shellcheck shell=sh disable=SC2154,SC2034 # variables are shared with the files that source this one
# Sourced by tools/nacelle where several processes train together: installs what connects them, NCCL between GPUs, and
# LibTorch with its Gloo between CPUs. No other command downloads any of it.

nccl_folder=$data_folder/nccl

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

# The communicator that a command line, or a configuration that it names, asks for; else auto.
named_communicator() {
    # The second word of a command may be the name of settings.
    set -- "$(own_settings "${2:-}.json")" "$(own_settings "env_sources/${2:-}.json")" "$@"
    communicator=auto
    for argument; do
        for file in "$argument" "$argument/config.json"; do
            case $file in
                *.json)
                    found=$(settings_text "$file" | sed -n 's/.*"communicator" *: *"\([^"]*\)".*/\1/p')
                    communicator=${found:-$communicator} ;;
            esac
        done
    done
    for argument; do
        case $argument in
            run.communicator=* | --set=run.communicator=*) communicator=$(echo "${argument#*communicator=}" | tr -d '"') ;;
        esac
    done
    echo "$communicator"
}

uses_gpus() {
    case " $* " in *' --backend cpu '* | *' --backend=cpu '*) return 1 ;; esac
    has_gpu
}

has_nccl() {
    [ -n "${NACELLE_NCCL:-}" ] || [ -f "$nccl_folder/nvidia/nccl/lib/libnccl.so.2" ] ||
        { has_command ldconfig && ldconfig -p 2>/dev/null | grep -q 'libnccl\.so\.2'; }
}

download_nccl() {
    if has_driver_12; then nccl=nccl12; else nccl=nccl13; fi
    install_locked "$python_folder/bin/python" $nccl --no-deps --target "$1"
}
install_nccl() { install_wheels has_nccl "$nccl_folder" download_nccl NCCL 'about 200 MB to be downloaded'; }

# with_ranks FOLDER ARGUMENTS: fails where what connects the ranks cannot be had. A communicator of the user's own needs neither.
with_ranks() {
    ranks_build=$1
    shift
    . "$root/tools/build/setup.sh"
    case $(named_communicator "$@") in
        auto) if uses_gpus "$@"; then install_nccl; else with_torch "$ranks_build"; fi ;;
        nccl) install_nccl ;;
        gloo) with_torch "$ranks_build" ;;
    esac
}

nccl_command() {
    case ${1:-} in -h | --help) nccl_usage && return ;; esac
    [ $# -eq 0 ] || { nccl_usage >&2 && exit 2; }
    . "$root/tools/build/setup.sh"
    install_nccl || exit 1
    say 'NCCL is there: tools/nacelle train cartpole --ranks 2'
}
