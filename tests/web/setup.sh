#!/bin/sh
# What the browser tests take from the npm registry, by the lock file, into tests/web/node_modules.
set -eu
cd "$(dirname "$0")"
npm ci --no-audit --no-fund --loglevel=error
