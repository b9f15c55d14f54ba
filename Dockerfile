# The image of Ganger: one binary, for servers and workers alike.
#
#   docker build -t ganger .
#   docker run --rm --read-only --tmpfs /tmp -v ganger:/var/lib/ganger -p 127.0.0.1:8080:8080 ganger
#
# It runs as a user without rights, and needs to write to /var/lib/ganger and /tmp only. crates/cli/tests/deployment.rs runs the
# steps below outside a container: keep each RUN line to plain shell that also works in a directory of its own.

# The web page, where there is one.
FROM node:22-bookworm-slim AS ui
WORKDIR /src
COPY . .
RUN mkdir -p ui/dist
RUN if [ -f ui/package.json ]; then cd ui && npm ci --no-audit --no-fund && npm run build; fi

FROM rust:1.95-slim-bookworm AS build
RUN apt-get update && apt-get install -y --no-install-recommends gcc g++ make cmake libc6-dev && rm -rf /var/lib/apt/lists/*
WORKDIR /src
COPY . .
COPY --from=ui /src/ui/dist ui/dist
ENV CARGO_INCREMENTAL=0
RUN cargo build --locked --profile dist -p ganger
RUN mkdir -p /out/bin /out/data && cp target/dist/ganger /out/bin/ganger

FROM debian:bookworm-slim
RUN apt-get update && apt-get install -y --no-install-recommends ca-certificates && rm -rf /var/lib/apt/lists/*
COPY --from=build /out/bin/ganger /usr/local/bin/ganger
COPY --from=build --chown=10001:10001 /out/data /var/lib/ganger
# A fresh volume has the owner of the directory that it is mounted on.
COPY --from=build --chown=10001:10001 /out/data /run/ganger
COPY --from=build --chown=10001:10001 /out/data /run/ganger-metrics
USER 10001:10001
WORKDIR /var/lib/ganger
# Other machines reach a container, so the server asks who calls: the first token is in /var/lib/ganger/admin-token.
ENV GANGER_DATA=/var/lib/ganger GANGER_LISTEN=0.0.0.0:8080 GANGER_LOG_FORMAT=json HOME=/var/lib/ganger
VOLUME /var/lib/ganger
EXPOSE 8080
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s --retries=3 CMD ["ganger", "health"]
ENTRYPOINT ["ganger"]
CMD ["server"]
