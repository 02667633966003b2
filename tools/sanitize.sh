#!/usr/bin/env bash
# Runs the C++ tests, then the Python tests marked `sanitize`, with the engine compiled under a sanitizer:
# `address` (with undefined behaviour) or `thread`. Only our extension is instrumented, not Python, so the
# sanitizer's runtime is preloaded. It needs the C++ runtime beside it to intercept exceptions.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

kind="${1:?usage: tools/sanitize.sh address|thread}"
case "$kind" in
  address) library=libasan.so ;;
  thread) library=libtsan.so ;;
  *) echo "sanitizer must be address or thread, got $kind." >&2 && exit 1 ;;
esac
build="build/sanitize-$kind"
python=.venv/bin/python
compiler="${CXX:-g++}"

export UBSAN_OPTIONS="print_stacktrace=1:halt_on_error=1"
export TSAN_OPTIONS="suppressions=$PWD/tools/tsan.supp:die_after_fork=0:second_deadlock_stack=1"

# Older ThreadSanitizers refuse the address layout of newer kernels, unless it is not random.
fixed_layout=()
if [ "$kind" = thread ] && setarch "$(uname -m)" -R true 2>/dev/null; then
  fixed_layout=(setarch "$(uname -m)" -R)
fi

echo "== C++ tests, $kind sanitizer"
# One build for both: the engine is compiled once, for the tests and for the extension.
cmake -S . -B "$build/cpp" -DCMAKE_BUILD_TYPE=RelWithDebInfo -DCOMMITTEE_BUILD_TESTS=ON \
  -DCOMMITTEE_BUILD_PYTHON=ON -DPython_EXECUTABLE="$PWD/$python" -DCOMMITTEE_SANITIZE="$kind" \
  --log-level=WARNING
cmake --build "$build/cpp"
"${fixed_layout[@]}" "$build/cpp/cpp/engine_tests"

echo "== Python tests, $kind sanitizer"
rm -rf "$build/site"
mkdir -p "$build/site"
cp -r src/committee "$build/site/"
cp "$build"/cpp/cpp/_engine*.so "$build/site/committee/"
# Leaks are left alone: the interpreter itself never frees everything.
export ASAN_OPTIONS="detect_leaks=0:detect_stack_use_after_return=1"
export TSAN_OPTIONS="$TSAN_OPTIONS:ignore_noninstrumented_modules=1"
# The numerical libraries' own threads are not what is tested here.
export OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1
# Only files with marked tests are imported: some optional libraries cannot be loaded under a sanitizer.
mapfile -t marked < <(grep -rl 'mark\.sanitize' tests --include='test_*.py' | sort)
# --capture=sys: a report goes to the file descriptor, past Python, and must be seen.
PYTHONPATH="$PWD/$build/site" \
  "${fixed_layout[@]}" env \
  LD_PRELOAD="$("$compiler" -print-file-name="$library") $("$compiler" -print-file-name=libstdc++.so)" \
  "$python" -m pytest -m sanitize "${marked[@]/#/./}" --capture=sys -p no:cacheprovider
