# shellcheck shell=sh disable=SC2154,SC2034 # variables are shared with the files that source this one
# Sourced by tools/nacelle where a command needs the learners on LibTorch: installs LibTorch, and has a build folder build
# the plugin from then on. No other command downloads or builds any of it.

torch_version=2.11.0
torch_folder=$data_folder/torch

torch_usage() {
    cat <<END
usage: tools/nacelle torch [--gpu | --flags]

Installs LibTorch $torch_version of PyPI's wheel 'torch' into $torch_folder:
546 MB to be downloaded, 1.2 GB on the disk. Builds the learners on it: docs/torch.md.
A command that names one of them does the same: tools/nacelle train cartpole --set learner.name=torch_ppo
  --gpu     also the libraries of CUDA that it needs on a GPU: 2.5 GB in all, 4 GB on the disk
  --flags   prints what a C++ compiler takes for a plugin with a network of its own, and does nothing else
END
}

# Whether a command line, or a configuration that it names, names a learner on LibTorch.
names_torch() {
    # Other commands load no learner, whatever a configuration or a run that they look at names.
    loads=no
    case ${1:-} in train | resume | eval | watch | bench | sweep) loads=yes ;; esac
    # The second word of a command may be the name of settings.
    set -- "$(own_settings "${2:-}.json")" "$(own_settings "env_sources/${2:-}.json")" "$@"
    for argument; do
        case $argument in
            learner.name=torch_* | learner.name=\"torch_* | learner=*\"torch_* | --set=learner.name=torch_*) return 0 ;;
        esac
        [ $loads = yes ] || continue
        for file in "$argument" "$argument/config.json" "$argument"/seed-*/config.json; do
            case $file in
                *.json) if settings_text "$file" | grep -q '"torch_[a-z0-9_]*"'; then return 0; fi ;;
            esac
        done
    done
    return 1
}

has_torch() { grep -q "^__version__ = '$torch_version" -- "$torch_folder/torch/version.py" 2>/dev/null; }

has_gpu_packages() { [ -d "$torch_folder/nvidia/cudnn" ]; }
# Whether they are wanted: asked for, or there already, or there is a GPU.
wants_gpu() { [ "${torch_gpu:-}" = yes ] || has_gpu_packages || has_gpu; }

# pip puts packages that share a folder side by side only where it installs them at once.
download_torch() {
    if wants_gpu; then cuda=torch-gpu; else cuda=torch-cpu; fi
    install_locked "$python_folder/bin/python" torch --no-deps --target "$1" -r "$locks/$cuda.txt"
}

has_all() { has_torch && { ! wants_gpu || has_gpu_packages; }; }
install_torch() {
    size='546 MB to be downloaded, 1.2 GB'
    ! wants_gpu || size='with its part for GPUs: 2.5 GB to be downloaded, 4 GB'
    install_wheels has_all "$torch_folder" download_torch "LibTorch $torch_version" "$size"
}

# configure_torch FOLDER: kept from then on, as the folder's other options.
configure_torch() {
    [ ! -f "$1/torch" ] || return 0
    build "$1" build.ninja || return
    step 'configuring the learners on LibTorch' run_meson configure "$1" -Dtorch="$torch_folder/torch"
    : >"$1/torch"
}

# without_torch FOLDER: where LibTorch was removed, the folder builds without it again.
without_torch() {
    . "$root/tools/build/setup.sh"
    say "LibTorch is no longer in $torch_folder: building without it"
    run_meson configure "$1" -Dtorch=
    rm -f "$1/torch"
}

# with_torch FOLDER: fails where LibTorch cannot be installed.
with_torch() {
    . "$root/tools/build/setup.sh"
    install_torch || return 1
    configure_torch "$1"
}

torch_flags() {
    has_torch || { say "LibTorch is not in $torch_folder: 'tools/nacelle torch' installs it" && exit 1; }
    echo "-I$root/sdk -I$root/plugins/torch/include -isystem$torch_folder/torch/include" \
        "-isystem$torch_folder/torch/include/torch/csrc/api/include -L$torch_folder/torch/lib -ltorch_cpu -lc10" \
        "-Wl,--allow-shlib-undefined -Wl,-rpath,$torch_folder/torch/lib"
}

torch_command() {
    case ${1:-} in
        -h | --help) torch_usage && return ;;
        --flags) if [ $# -eq 1 ]; then torch_flags && return; fi ;;
        --gpu) torch_gpu=yes && shift ;;
    esac
    [ $# -eq 0 ] || { torch_usage >&2 && exit 2; }
    with_torch "$root/build" || exit 1
    build "$root/build" product || exit 1
    say 'the learners on LibTorch are there: tools/nacelle train cartpole --set learner.name=torch_ppo'
}
