#!/bin/sh
# The USI engine for Linux and macOS: let your shogi GUI start this file.
here=$(dirname "$(readlink -f "$0")")
[ -e "$here/engine/ready" ] || "$here/setup.sh" >&2 </dev/null || exit 1
exec "$here/engine/bin/python" -I -m liteshogi "$@"
