# docker build -t nacelle . && docker run --gpus all nacelle train cartpole
# What the image needs of a GPU comes with --gpus, from the driver of the machine.
FROM debian:12
RUN apt-get update && apt-get install -y --no-install-recommends \
        ca-certificates g++ meson ninja-build pkg-config libboost-dev nlohmann-json3-dev doctest-dev \
        libcli11-dev zlib1g-dev libminizip-dev libagg-dev libpng-dev libgif-dev libjs-chart.js python3-venv && \
    rm -rf /var/lib/apt/lists/*
COPY . /nacelle
RUN /nacelle/tools/nacelle install
WORKDIR /work
ENTRYPOINT ["nacelle"]
CMD ["--help"]
