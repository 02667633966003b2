#!/usr/bin/env bash
# Prints the first Python that can build and host committee: >= 3.11, with venv, ensurepip and headers.
# $PYTHON, where set, is tried alone. Where none will do, says what is missing and how to get it.
set -euo pipefail

probe='
import importlib.util, os, sys, sysconfig
if sys.version_info < (3, 11):
    sys.exit("is %d.%d, need >= 3.11" % sys.version_info[:2])
if not all(importlib.util.find_spec(name) for name in ("venv", "ensurepip")):
    sys.exit("has no venv or ensurepip: apt-get install python3-venv")
if not os.path.exists(os.path.join(sysconfig.get_path("include"), "Python.h")):
    sys.exit("has no Python.h: apt-get install python3-dev")
print(sys.executable)
'
complaints=""
candidates="${PYTHON:-python3.11 python3 /usr/bin/python3 python3.12 python3.13 python3.14}"
for candidate in $candidates; do
  if ! command -v "$candidate" >/dev/null; then
    continue
  elif answer="$("$candidate" -c "$probe" 2>&1)"; then
    echo "$answer"
    exit 0
  else
    complaints+="  $candidate ${answer%%$'\n'*}"$'\n'
  fi
done
{
  echo "No suitable Python found (tried: $candidates)."
  printf '%s' "$complaints"
  echo "On Debian or Ubuntu: apt-get install python3 python3-venv python3-dev"
} >&2
exit 1
