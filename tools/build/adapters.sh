# shellcheck shell=sh disable=SC2154 # variables are shared with the files that source this one
# Sourced by `tools/nacelle test adapters` and `test notebooks`: installs PyTorch, other libraries'
# trainers and Jupyter's kernel into an environment of Python.

adapters_folder=$data_folder/test-adapters

# CleanRL is scripts, whose package says that it is for older versions of Python.
make_adapters() {
    python3 -I -m venv --clear "$adapters_folder.part" &&
        install_locked "$adapters_folder.part/bin/python" adapters -q &&
        "$adapters_folder.part/bin/python" -I -m pip download -q --disable-pip-version-check --no-deps --only-binary=:all: \
            --python-version 3.9 --dest "$adapters_folder.part/cleanrl" 'cleanrl==1.2.0' &&
        rm -rf "$adapters_folder" && mv "$adapters_folder.part" "$adapters_folder"
}

# Prints the folder; fails where PyPI did not give all.
adapters_environment() {
    lock_data "$adapters_folder"
    if ! "$adapters_folder/bin/python" -I -c 'import importlib.util as u, sys; sys.exit(not all(map(u.find_spec, ("mlflow", "nbclient", "optuna", "torchrl", "wandb"))))' 2>/dev/null; then
        say "installing PyTorch and six libraries' trainers from PyPI: 2.7 GB to be downloaded, 6 GB in $adapters_folder"
        (step 'this takes some minutes' make_adapters) || return 1
    fi
    exec 8>&-
    echo "$adapters_folder"
}
