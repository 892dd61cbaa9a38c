#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Usage: own_home.sh FOLDER COMMAND [ARG...]: runs a command with the home folder FOLDER, emptied first. So ParaView has default
# settings, and the user's are neither read nor written.
set -eu
[ ! -f "${HOME:-}/.Xauthority" ] || export XAUTHORITY="${XAUTHORITY:-$HOME/.Xauthority}"
rm -rf "$1"
mkdir -p "$1"
HOME=$(cd "$1" && pwd)
export HOME
unset XDG_CONFIG_HOME XDG_CACHE_HOME XDG_DATA_HOME
shift
exec "$@"
