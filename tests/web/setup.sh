#!/bin/sh
# What the browser tests take from the npm registry, by the lock file, into tests/web/node_modules.
set -eu
cd "$(dirname "$0")"
if ! command -v npm >/dev/null && [ "$(id -u)" = 0 ]; then
    DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends npm
fi
npm ci --no-audit --no-fund --loglevel=error
