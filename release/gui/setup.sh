#!/bin/sh
# Done by the first start of LiteShogi.sh, or better by hand in a terminal, where one sees it: an engine of its own in
# the folder "engine".
cd "$(dirname "$(readlink -f "$0")")" || exit 1
again=$([ -e engine/ready ] && echo yes)
echo "LiteShogi sets itself up. That is done once, takes a few minutes and needs the Internet."
for python in python@PYTHON@ python3 missing; do
    "$python" -c "import sys; sys.exit(sys.version_info < (3, 11))" 2>/dev/null && break
done
if [ "$python" = missing ]; then
    echo "Python 3.11 or later is missing: install it and start again."
    exit 1
fi
# One at a time: a second start waits for the first, and finds its work done. The system takes the lock back from who
# has ended in whatever way; on a file system without locks nobody waits.
exec 9<setup.sh
"$python" -c "import fcntl; fcntl.flock(0, fcntl.LOCK_EX)" <&9 2>/dev/null
[ -z "$again" ] && [ -e engine/ready ] && exit 0
set -e
"$python" -m venv --clear engine
# The engine from here alone; then what it needs, best in the versions that it was compiled with.
install="engine/bin/python -I -m pip install --quiet --disable-pip-version-check"
$install --no-index --no-deps --find-links wheels liteshogi==@VERSION@
$install --constraint wheels/compiled-with.txt liteshogi==@VERSION@ || $install liteshogi==@VERSION@
echo "Compiling what did not come compiled: seconds, or about a minute ..."
engine/bin/python -I -m liteshogi warmup
echo "@VERSION@" >engine/ready
