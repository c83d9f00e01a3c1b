# smlocal as an image, for CI services that run every step in a container:
#
#   docker build --tag smlocal .
#   docker run --rm --init -v /var/run/docker.sock:/var/run/docker.sock -v "$PWD:$PWD" -w "$PWD" smlocal smlocal run job.yaml
#
# docs/ci.md says what to mount. Packages are those of the lock, with their hashes.
ARG BASE=python:3.11-slim-bookworm
FROM ${BASE} AS packages
COPY scripts/locks/package.txt /tmp/package.txt
RUN pip install --no-cache-dir --require-hashes --only-binary=:all: --requirement /tmp/package.txt

FROM packages AS wheel
COPY . /smlocal
RUN pip wheel --no-index --no-deps --no-build-isolation --wheel-dir /wheel /smlocal

FROM packages
COPY --from=wheel /wheel /wheel
RUN pip install --no-cache-dir --no-index --no-deps /wheel/*.whl && rm -rf /wheel
# No ENTRYPOINT: services start a shell in the image.
CMD ["smlocal", "--help"]
